import { quoteIdentifier } from '@opsplane/postgres'

/** The words of a row's columns, as full-text indexes are over them; `row` is what the names of columns are qualified with. */
export const searchVector = (columns: readonly string[], row = ''): string => {
  const texts = columns.map((column) => `coalesce(${row}${quoteIdentifier(column)}, ''::text)`)
  return `studio.search_words(${texts.join(` || ' '::text || `)})`
}
