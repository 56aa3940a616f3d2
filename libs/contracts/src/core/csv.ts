import { z } from 'zod'

/** Separator between the cells of a CSV file. */
export const CsvDelimiter = z.enum([',', ';', '\t']).meta({
  // Client generators fail on a tab as an enum value.
  type: 'string',
  pattern: '^[,;\\t]$',
  description:
    'Of csv: what stands between cells, a comma (unless given), a semicolon or a tab. Spreadsheets of countries whose decimals have a comma expect a semicolon.',
})
export type CsvDelimiter = z.infer<typeof CsvDelimiter>

export const csvBomDescription =
  'Of csv: begins the file with a byte order mark, by which Excel knows it for UTF-8.'
