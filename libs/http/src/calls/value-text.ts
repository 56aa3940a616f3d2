import { stringifyExact } from '@opsplane/contracts'

/** The text of a value in an address or a query: JSON for an object or a list. Undefined for what is not there. */
export function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? stringifyExact(value) : String(value)
}
