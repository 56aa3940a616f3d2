import { type SQL, sql } from 'drizzle-orm'
import { customType, index, type PgColumn } from 'drizzle-orm/pg-core'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/** Fields of the state, by the weight of their words. */
interface SearchedFields {
  /** Number, title or name. */
  names: readonly string[]
  labels?: readonly string[]
  text?: readonly string[]
}

/**
 * The words of the row's state, computed by `list_search` of the service's migrations: without accents, in lower
 * case, and split at all characters except letters and digits, so that `checkout-db-1` is found by `db` too.
 */
export function searchColumn<Name extends string>(column: Name, { names, labels, text }: SearchedFields) {
  const parts = [names, labels ?? [], text ?? []].map(wordsOf)
  return tsvector(column).generatedAlwaysAs(sql.raw(`list_search(${parts.join(', ')})`))
}

const wordsOf = (fields: readonly string[]) =>
  fields.length === 0 ? `''` : fields.map((field) => `coalesce(state->>'${field}', '')`).join(` || ' ' || `)

/**
 * Index to find rows of one workspace by their words (needs btree_gin). Only the workspace precedes the words:
 * each further column would be one more list of all its rows to intersect. New entries wait in a pending list that
 * is written into the index in bulk; every search reads that list, so it is kept short.
 */
export function searchIndex(name: string, workspaceId: PgColumn, search: PgColumn) {
  return index(name).using('gin', workspaceId, search).with({ fastupdate: true, gin_pending_list_limit: 512 })
}

/**
 * Requires every word, with the last one as a prefix; `"…"` is a phrase, `-` excludes, `or` means either. A
 * record's number, such as `INC-4`, is not treated as a prefix.
 */
export function matchesText(column: PgColumn | SQL, text: string): SQL {
  const query = searchQuery(text)
  if (query === null) return sql`false`
  return sql`${column} @@ list_query(${query.words}, ${query.prefix}::boolean)`
}

/** Scripts without spaces between words; `spaceless_pairs` in the services' migrations has the same ranges. */
const spaceless = String.raw`[\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\u{20000}-\u{3FFFF}]`
const spacelessRun = new RegExp(`(${spaceless}+)`, 'gu')
const spacelessEnd = new RegExp(`(?:^|[^\\p{L}\\p{N}\\p{M}])${spaceless}"?$`, 'u')

/**
 * Splits runs of such scripts in a query into overlapping pairs of characters, like stored texts: `打印机` becomes
 * `打印 印机`.
 */
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

/**
 * The query in the syntax of `websearch_to_tsquery`, and whether the last word is a prefix; `null` if there are no
 * words.
 */
export function searchQuery(text: string): { words: string; prefix: boolean } | null {
  const terms: { text: string; open: boolean }[] = []
  for (const [, sign = '', phrase, bare = ''] of text.matchAll(/(-?)"([^"]*)"?|(\S+)/g)) {
    if (/^or$/i.test(bare)) {
      if (terms.length > 0 && terms.at(-1)?.text !== 'or') terms.push({ text: 'or', open: false })
      continue
    }
    const negated = phrase === undefined ? bare.startsWith('-') : sign === '-'
    const open = phrase === undefined && !negated && !/^[a-z]+-\d+$/i.test(bare)
    // Such a run within a word is a separate term, because it is not stored directly behind the rest of the word.
    for (const part of phrase === undefined ? bare.split(spacelessRun) : [phrase]) {
      const words = spacelessPairs(part).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
      if (words.length > 0) terms.push({ text: `${negated ? '-' : ''}"${words.join(' ')}"`, open })
    }
  }
  if (terms.at(-1)?.text === 'or') terms.pop()
  const last = terms.at(-1)
  return last ? { words: terms.map((term) => term.text).join(' '), prefix: last.open } : null
}
