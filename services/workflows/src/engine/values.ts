import { stringifyExact } from '@opsplane/contracts'
/** As JSONata's `$boolean`: what is empty or zero is false, and a list of nothing but that. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isTrue)
  if (value !== null && typeof value === 'object') return Object.keys(value).length > 0
  return Boolean(value)
}

/** Of an object; none of anything else. */
export const toFields = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? { ...value } : {}

/** Texts as they are, nothing as empty, all else as JSON. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : stringifyExact(value)
}
/** Of an event as webhooks get it. */
export function findEventId(event: unknown): string | null {
  const { id } = toFields(event)
  return typeof id === 'string' ? id : null
}
