import { z } from 'zod'

/** Separator between the cells of a CSV file. */
export const CsvDelimiter = z.enum([',', ';', '\t']).meta({
  // Client generators fail on a tab as an enum value.
  type: 'string',
  pattern: '^[,;\\t]$',
  description:
    'CSV only: separator between cells. A comma (default), a semicolon or a tab. Spreadsheets in locales with a ' +
    'decimal comma expect a semicolon.',
})
export type CsvDelimiter = z.infer<typeof CsvDelimiter>

export const csvBomDescription =
  'CSV only: starts the file with a byte order mark, by which Excel recognizes UTF-8.'
