import { z } from 'zod'

/** What stands between the cells of a CSV file. */
export const CsvDelimiter = z.enum([',', ';', '\t']).meta({
  // Generators of clients fail on a tab as the value of an enum.
  type: 'string',
  pattern: '^[,;\\t]$',
  description:
    'Of csv: what stands between cells, a comma (unless given), a semicolon or a tab. Spreadsheets of countries whose decimals have a comma expect a semicolon.',
})
export type CsvDelimiter = z.infer<typeof CsvDelimiter>

export const csvBomDescription =
  'Of csv: begins the file with a byte order mark, by which Excel knows it for UTF-8.'
