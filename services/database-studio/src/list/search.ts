import type { TableState } from '@opsplane/contracts'
import { quoted } from '@opsplane/postgres'
import { likeText } from '../row/conditions.js'
import type { Parameters } from '../row/parameters.js'
import { searchableFields } from './served.js'

/**
 * The condition of `q`: the words by the full-text indexes of the table, in the syntax of `websearch_to_tsquery`; without one,
 * the text as a part of any text of the record, in upper or lower case.
 */
export function searchOf(table: TableState, q: string): (row: string, parameters: Parameters) => string {
  const indexes = table.indexes.filter(({ kind }) => kind === 'fulltext')
  return (row, parameters) => {
    if (indexes.length > 0) {
      const words = `websearch_to_tsquery('simple', ${parameters.bind(q, 'text')})`
      const found = indexes.map(
        ({ columns }) =>
          `${searchVector(
            columns.map(({ name }) => name),
            row,
          )} @@ ${words}`,
      )
      return `(${found.join(' or ')})`
    }
    const pattern = parameters.bind(`%${likeText(q)}%`, 'text')
    const parts = searchableFields(table).map(
      ({ column }) => `${row}.${quoted(column)}::text ilike ${pattern}`,
    )
    return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`
  }
}

/** What a full-text index is over: as the table's DDL has it. */
export const searchVector = (columns: readonly string[], row: string): string => {
  const texts = columns.map((column) => `coalesce(${row}.${quoted(column)}, ''::text)`)
  return `to_tsvector('simple'::regconfig, ${texts.join(` || ' '::text || `)})`
}
