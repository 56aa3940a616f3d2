import { quoteIdentifier } from '@opsplane/postgres'

/** SQL for the words of a row's columns, as indexed by full-text indexes; `row` qualifies the column names. */
export const searchVector = (columns: readonly string[], row = ''): string => {
  const texts = columns.map((column) => `coalesce(${row}${quoteIdentifier(column)}, ''::text)`)
  return `studio.search_words(${texts.join(` || ' '::text || `)})`
}
