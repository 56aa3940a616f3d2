import { stringifyExact } from '@opsplane/contracts'

/** The text of a value in a URL or query: JSON for an object or array. `undefined` for `null` and `undefined`. */
export function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? stringifyExact(value) : String(value)
}
