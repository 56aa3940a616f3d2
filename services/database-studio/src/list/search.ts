import type { TableState } from '@opsplane/contracts'
import { endsInSpacelessCharacter, quoteIdentifier, searchQuery } from '@opsplane/postgres'
import { escapeLike } from '../row/conditions.js'
import { foldedSql } from '../row/folded.js'
import type { Parameters } from '../row/parameters.js'
import { searchVector } from '../row/search-vector.js'
import { searchableFields } from './access-path.js'

/**
 * Builds the condition for `q`. If the table has full-text indexes, they are searched for the words; otherwise the text
 * is matched as a substring of any text column. Both ignore accents and case.
 */
export function buildSearchCondition(
  table: TableState,
  q: string,
): (row: string, parameters: Parameters) => string {
  const indexes = table.indexes.filter(({ kind }) => kind === 'fulltext')
  return (row, parameters) => {
    if (indexes.length > 0) {
      const parsedQuery = searchQuery(q.normalize('NFKC'))
      if (parsedQuery === null) return 'false'
      // Words match as a whole, except that a single character of a script without spaces matches as a prefix of the
      // character pairs it is stored in.
      const isPrefixMatch = parsedQuery.prefix && endsInSpacelessCharacter(parsedQuery.words)
      const words = `studio.search_query(${parameters.bind(parsedQuery.words, 'text')}, ${isPrefixMatch})`
      const found = indexes.map(({ columns }) => {
        const names = columns.map(({ name }) => name)
        return `${searchVector(names, `${row}.`)} @@ ${words}`
      })
      return `(${found.join(' or ')})`
    }
    const pattern = foldedSql(parameters.bind(`%${escapeLike(q)}%`, 'text'))
    const parts = searchableFields(table).map(
      ({ column }) => `${foldedSql(`${row}.${quoteIdentifier(column)}::text`)} like ${pattern}`,
    )
    return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`
  }
}
