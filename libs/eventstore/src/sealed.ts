import { stringifyExact } from '@opsplane/contracts'
/**
 * The difference between an event's exposed `after` and the full state: the hidden top-level fields, and the names
 * of the fields that expose() adds and that are not part of the state.
 */
export interface Sealed {
  hidden: Record<string, unknown>
  derived: string[]
}

/** `null` if the exposed resource is the full state. */
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

/** Restores the state from the exposed resource and the sealed part. */
export function unseal(exposed: object, sealed: Sealed | null): Record<string, unknown> {
  if (!sealed) return { ...exposed }
  const derived = new Set(sealed.derived)
  const kept = Object.entries(exposed).filter(([name]) => !derived.has(name))
  return { ...Object.fromEntries(kept), ...sealed.hidden }
}

function sameJson(left: unknown, right: unknown): boolean {
  return left === right || stringifyExact(left) === stringifyExact(right)
}
