import { type SQL, sql } from 'drizzle-orm'
import { customType, index, type PgColumn } from 'drizzle-orm/pg-core'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/** Fields of the state, by how much a word in them says. */
interface SearchedFields {
  /** Number, title or name. */
  names: readonly string[]
  labels?: readonly string[]
  text?: readonly string[]
}

/**
 * The words of the row's state, computed by `list_search` of the service's migrations: without accents, in lower
 * case, split at everything but letters and digits, so that `checkout-db-1` is found by `db` too.
 */
export function searchColumn<Name extends string>(column: Name, { names, labels, text }: SearchedFields) {
  const parts = [names, labels ?? [], text ?? []].map(wordsOf)
  return tsvector(column).generatedAlwaysAs(sql.raw(`list_search(${parts.join(', ')})`))
}

const wordsOf = (fields: readonly string[]) =>
  fields.length === 0 ? `''` : fields.map((field) => `coalesce(state->>'${field}', '')`).join(` || ' ' || `)

/**
 * Finds rows of one workspace by their words (needs btree_gin). It leads with the workspace alone: each further column
 * is one more list of all its rows to intersect with. New entries wait in a list that is written into the index
 * together; every search reads it, so it is kept short.
 */
export function searchIndex(name: string, workspaceId: PgColumn, search: PgColumn) {
  return index(name).using('gin', workspaceId, search).with({ fastupdate: true, gin_pending_list_limit: 512 })
}

/**
 * Every word must be there, the last one may go on; `"…"` is taken as a phrase, `-` excludes, `or` is either.
 * A record's number, such as `INC-4`, does not go on.
 */
export function matchesText(column: PgColumn | SQL, text: string): SQL {
  const query = searchQuery(text)
  if (query === null) return sql`false`
  return sql`${column} @@ list_query(${query.words}, ${query.prefix}::boolean)`
}

/** Scripts that put no spaces between words; `spaceless_pairs` of the services' migrations has the same ranges. */
const spaceless = String.raw`[\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\u{20000}-\u{3FFFF}]`
const spacelessRun = new RegExp(`(${spaceless}+)`, 'gu')
const spacelessEnd = new RegExp(`(?:^|[^\\p{L}\\p{N}\\p{M}])${spaceless}"?$`, 'u')

/** A query with runs of such scripts as overlapping pairs of characters, as which texts are stored: `打印机` is `打印 印机`. */
export const spacelessPairs = (query: string): string =>
  query.replace(spacelessRun, (run) => {
    const characters = [...run]
    if (characters.length < 2) return ` ${run} `
    return ` ${characters
      .slice(1)
      .map((character, at) => `${characters[at]}${character}`)
      .join(' ')} `
  })

/** Whether the last word of `searchQuery` is a single character of such a script. */
export const endsInSpacelessCharacter = (words: string): boolean => spacelessEnd.test(words)

/** In the syntax of `websearch_to_tsquery`, and whether the last word may go on; null when there are no words. */
export function searchQuery(text: string): { words: string; prefix: boolean } | null {
  const terms: { text: string; open: boolean }[] = []
  for (const [, sign = '', phrase, bare = ''] of text.matchAll(/(-?)"([^"]*)"?|(\S+)/g)) {
    if (/^or$/i.test(bare)) {
      if (terms.length > 0 && terms.at(-1)?.text !== 'or') terms.push({ text: 'or', open: false })
      continue
    }
    const negated = phrase === undefined ? bare.startsWith('-') : sign === '-'
    const open = phrase === undefined && !negated && !/^[a-z]+-\d+$/i.test(bare)
    // A run without spaces within a word is a term of its own: it is not stored right behind the rest of the word.
    for (const part of phrase === undefined ? bare.split(spacelessRun) : [phrase]) {
      const words = spacelessPairs(part).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
      if (words.length > 0) terms.push({ text: `${negated ? '-' : ''}"${words.join(' ')}"`, open })
    }
  }
  if (terms.at(-1)?.text === 'or') terms.pop()
  const last = terms.at(-1)
  return last ? { words: terms.map((term) => term.text).join(' '), prefix: last.open } : null
}
