import {
  AnalyticsQuery,
  CsvDelimiter,
  ExportFormat,
  FactRowsQuery,
  TableRowsQuery,
} from '@opsplane/contracts'
import { z } from 'zod'

/** What is read, settled when the export was asked for: reports are queries, and ranges two instants. */
export const PlannedRows = z.union([
  z.strictObject({ query: AnalyticsQuery }),
  z.strictObject({ facts: FactRowsQuery }),
  z.strictObject({ records: TableRowsQuery }),
])
export type PlannedRows = z.infer<typeof PlannedRows>

/** What is written of it. */
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

/** Whatever a name is, a file of most systems can be called so. */
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
