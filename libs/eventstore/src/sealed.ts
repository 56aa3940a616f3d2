import { stringifyExact } from '@opsplane/contracts'
/**
 * What an event's exposed `after` lacks to be the whole state again: the hidden top-level fields, and the names
 * of fields that expose() adds and that are not part of the state.
 */
export interface Sealed {
  hidden: Record<string, unknown>
  derived: string[]
}

/** Null when the exposed resource is the whole state. */
export function seal(state: object, exposed: object): Sealed | null {
  if (state === exposed) return null
  const hidden: Record<string, unknown> = {}
  const visible = new Map(Object.entries(exposed))
  for (const [name, value] of Object.entries(state)) {
    if (value !== undefined && !sameJson(visible.get(name), value)) hidden[name] = value
  }
  const derived = [...visible.keys()].filter((name) => visible.get(name) !== undefined && !(name in state))
  return Object.keys(hidden).length === 0 && derived.length === 0 ? null : { hidden, derived }
}

/** The state again, from the exposed resource and what was sealed. */
export function unseal(exposed: object, sealed: Sealed | null): Record<string, unknown> {
  if (!sealed) return { ...exposed }
  const derived = new Set(sealed.derived)
  const kept = Object.entries(exposed).filter(([name]) => !derived.has(name))
  return { ...Object.fromEntries(kept), ...sealed.hidden }
}

function sameJson(left: unknown, right: unknown): boolean {
  return left === right || stringifyExact(left) === stringifyExact(right)
}
