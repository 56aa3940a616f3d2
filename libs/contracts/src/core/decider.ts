import { canonicalJson } from '../json/canonical-json.js'

/** ISO 8601, UTC, milliseconds. Deciders receive the time as an argument. */
export type Instant = string

/** One decided fact: the event's type, the aggregate after it (`null` once deleted), and type-specific extras. */
export interface Decision<State, Type extends string = string> {
  type: Type
  after: State | null
  extras?: Record<string, unknown>
  /**
   * Rows written with the event because they are too large for it. No event contains them, so a rebuild of the read
   * models leaves their tables unchanged.
   */
  extraRows?: ReadModelRow[]
}

/** A row of a read-model table. All tables share this shape; filterable columns are generated from `state`. */
export interface ReadModelRow {
  table: string
  id: string
  state: Record<string, unknown> | null
}

/**
 * The rules of one kind of aggregate. Pure: no IO, no clock, no randomness.
 * `State` is the whole folded aggregate; `Command` is a union on `kind`.
 */
export interface Decider<State extends { id: string }, Command, Resource = State> {
  /** Kind of resource on events, such as `incident`. */
  resourceType: string
  /** Read-model table that keeps the aggregate's folded state. */
  table: string
  /**
   * Returns the events for the command; `state` is `null` if the aggregate does not exist yet. Throws ApiError if the
   * command is not allowed.
   */
  decide(command: Command, state: State | null): Decision<State>[]
  /** The part of the state that leaves the service; everything else, such as hashes, stays in the sealed part. */
  expose(state: State): Resource
  /** Name of the resource in events. `id` is set only if events use another id than the aggregate's. */
  describe(state: State): { displayName: string; number?: string; id?: string }
  /** Further read-model rows an event changes, in addition to the aggregate's own. */
  project?(decision: Decision<State>): ReadModelRow[]
}

/** Casts a stored row to the decider's state type. Safe because only this decider's state is written to the row. */
export function storedState<State extends { id: string }>(
  _decider: Pick<Decider<State, never, unknown>, 'describe'>,
  stored: unknown,
): State {
  return stored as State
}

/** Ends an exhaustive switch: fails to compile if a case is missing, and throws if reached. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`)
}

/**
 * Names of the top-level fields that differ when compared as JSON. The order of keys
 * is ignored, as jsonb does not keep it.
 */
export function changedFields(before: object | null, after: object | null): string[] {
  const left = (before ?? {}) as Record<string, unknown>
  const right = (after ?? {}) as Record<string, unknown>
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
  return names.filter((name) => differs(left[name], right[name]))
}

/** Compares most fields without serializing them: JSON text is needed only if both values are present and not identical. */
function differs(left: unknown, right: unknown): boolean {
  if (left === right) return false
  if (isAbsent(left) || isAbsent(right)) return isAbsent(left) !== isAbsent(right)
  return canonicalJson(left) !== canonicalJson(right)
}

/** Whether JSON writes the value as `null` or omits it. */
const isAbsent = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))
