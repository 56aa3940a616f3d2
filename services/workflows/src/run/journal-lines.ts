import { stringifyExact } from '@opsplane/contracts'
import type { JournalLine } from './model.js'

/** Values with more JSON than this are stored separately from their entry, and the trace links to them. */
export const largeBytes = 8 * 1024
/** Maximum size of one value. */
export const maxValueBytes = 1024 * 1024

/** Fields of entries whose values may have any size. */
const valueFields = ['output', 'input', 'items', 'event', 'waiting', 'error'] as const

/** Formats an entry; if it is large, its largest value is stored separately. `whole` is its JSON. */
export function formatJournalLine(
  seq: number,
  at: number,
  entry: object,
  whole = stringifyExact(entry),
): JournalLine {
  if (whole.length <= largeBytes)
    return { seq, at, entry: whole, largeField: null, large: null, bytes: whole.length }
  const fields = new Map(Object.entries(entry))
  let [largeField, large]: [string | null, string | null] = [null, null]
  for (const name of valueFields) {
    const text = fields.has(name) ? stringifyExact(fields.get(name)) : undefined
    if (text !== undefined && text.length > (large?.length ?? 0)) [largeField, large] = [name, text]
  }
  if (largeField !== null) fields.delete(largeField)
  return {
    seq,
    at,
    entry: stringifyExact(Object.fromEntries(fields)),
    largeField,
    large,
    bytes: Buffer.byteLength(whole),
  }
}

/** Parses a line and restores its separate value. */
export function parseJournalLine({
  entry,
  largeField,
  large,
}: {
  entry: object
  largeField: string | null
  large: unknown
}): object {
  return largeField === null ? entry : { ...entry, [largeField]: large }
}
