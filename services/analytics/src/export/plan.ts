import {
  AnalyticsQuery,
  CsvDelimiter,
  ExportFormat,
  FactRowsQuery,
  TableRowsQuery,
} from '@opsplane/contracts'
import { z } from 'zod'

/** The rows to read, resolved when the export was requested: reports are queries, and ranges are two instants. */
export const PlannedRows = z.union([
  z.strictObject({ query: AnalyticsQuery }),
  z.strictObject({ facts: FactRowsQuery }),
  z.strictObject({ records: TableRowsQuery }),
])
export type PlannedRows = z.infer<typeof PlannedRows>

/** The rows to read and the format to write them in. */
export const PlannedExport = z.object({
  name: z.string(),
  format: ExportFormat,
  escapeFormulas: z.boolean(),
  delimiter: CsvDelimiter.default(','),
  bom: z.boolean().default(false),
  rows: PlannedRows,
})
export type PlannedExport = z.infer<typeof PlannedExport>

const maxCharacters = 100

/** Turns any name into a valid file name on most systems. */
export function toFileName({ name, format }: Pick<PlannedExport, 'name' | 'format'>): string {
  const plain = name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxCharacters)
    .replace(/^\.+|[. ]+$/g, '')
  return `${plain === '' ? 'export' : plain}.${format}`
}
