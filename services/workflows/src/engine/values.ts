import { stringifyExact } from '@opsplane/contracts'
/** Like JSONata's `$boolean`: empty values and zero are false, and so is a list of only such values. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isTrue)
  if (value !== null && typeof value === 'object') return Object.keys(value).length > 0
  return Boolean(value)
}

/** The fields of an object; empty for any other value. */
export const toFields = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? { ...value } : {}

/** Strings unchanged, null and undefined as the empty string, everything else as JSON. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : stringifyExact(value)
}
/** The id of an event in the format of webhooks. */
export function findEventId(event: unknown): string | null {
  const { id } = toFields(event)
  return typeof id === 'string' ? id : null
}
