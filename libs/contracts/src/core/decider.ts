import { canonicalJson } from '../json/canonical-json.js'

/** Time arrives as an argument: ISO 8601, UTC, milliseconds. */
export type Instant = string

/** One decided fact: the event's type, the aggregate after it (null once deleted), and type-specific extras. */
export interface Decision<State, Type extends string = string> {
  type: Type
  after: State | null
  extras?: Record<string, unknown>
  /**
   * Rows written with the event that are too large for it, in tables that no event tells of: a rebuild leaves them as they
   * are.
   */
  extraRows?: ReadModelRow[]
}

/** A row of a read-model table. All tables share this shape; filterable columns are generated from `state`. */
export interface ReadModelRow {
  /** Name of the read-model table. */
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
  /** What the command does to the state (null: not created yet). Throws ApiError when it is not allowed. */
  decide(command: Command, state: State | null): Decision<State>[]
  /** What of the state leaves the service; anything else, such as hashes, stays in the sealed part. */
  expose(state: State): Resource
  /** How events name the resource. `id` only where events speak of another id than the aggregate's. */
  describe(state: State): { displayName: string; number?: string; id?: string }
  /** Read-model rows an event changes in addition to the aggregate's own. */
  project?(decision: Decision<State>): ReadModelRow[]
}

/** A state as it was stored. The row was written from this decider's own state, which types it. */
export function storedState<State extends { id: string }>(
  _decider: Pick<Decider<State, never, unknown>, 'describe'>,
  stored: unknown,
): State {
  return stored as State
}

/** Ends an exhaustive switch. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`)
}

/** Names of the top-level fields that differ, compared as JSON; the order of keys, which jsonb does not keep, is nothing. */
export function changedFields(before: object | null, after: object | null): string[] {
  const left = (before ?? {}) as Record<string, unknown>
  const right = (after ?? {}) as Record<string, unknown>
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
  return names.filter((name) => differs(left[name], right[name]))
}

/** Most fields are plain values, or come to be: their text is needed only where both are more. */
function differs(left: unknown, right: unknown): boolean {
  if (left === right) return false
  if (isAbsent(left) || isAbsent(right)) return isAbsent(left) !== isAbsent(right)
  return canonicalJson(left) !== canonicalJson(right)
}

/** What JSON has as null, or not at all. */
const isAbsent = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))
