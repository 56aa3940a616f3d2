import { stringifyExact } from '@opsplane/contracts'
import type { JournalLine } from './model.js'

/** Values of more JSON than this are stored apart from their entry, where the trace links to them. */
export const largeBytes = 8 * 1024
/** Of one value. */
export const maxValueBytes = 1024 * 1024
/** Of the whole journal of a run. */
export const maxRunBytes = 16 * 1024 * 1024

/** Fields of entries that may hold values of any size. */
const valueFields = ['output', 'input', 'items', 'event', 'waiting', 'error'] as const

/** Formats an entry, with its largest value apart where the whole is large. `whole` is its JSON. */
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

/** A line as it is read back, whole. */
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
