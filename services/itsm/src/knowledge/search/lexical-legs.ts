import type { Drizzle } from '@opsplane/postgres'
import { and, asc, desc, or, type SQL, sql } from 'drizzle-orm'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import type { Analysis } from './analysis.js'
import { type SearchScope, withinScope } from './scope.js'

/** Maximum number of results per leg. Lower ranks contribute nothing to the fusion. */
export const legDepth = 50

/** Finds articles that contain an identifier of the query: a number, an id or an error code. */
export function exactLeg(db: Drizzle, scope: SearchScope, { codes }: Analysis) {
  const codeArray = sql`array(select jsonb_array_elements_text(${JSON.stringify(codes)}::jsonb))`
  const found = sql`(select count(*) from jsonb_array_elements_text(${table.codes}) code where code = any(${codeArray}))`
  return db
    .select({ id: table.id })
    .from(table)
    .where(and(withinScope(scope), sql`${table.codes} ?| ${codeArray}`))
    .orderBy(desc(found), asc(table.id))
    .limit(legDepth)
}

/**
 * Full-text search. Articles with all words come first, then those with some of them: a problem described in a sentence
 * has words that no article contains.
 */
export function textLeg(db: Drizzle, scope: SearchScope, analysis: Analysis) {
  const any = relaxedQuery(analysis, scope)
  const all = strictQuery(analysis)
  return db
    .select({ id: table.id })
    .from(table)
    .where(and(withinScope(scope), sql`${table.search} @@ ${any}`))
    .orderBy(
      desc(sql`(${table.search} @@ ${all})`),
      desc(sql`ts_rank(${table.search}, ${any}, 1)`),
      asc(table.id),
    )
    .limit(legDepth)
}

/** Minimum similarity at which a word counts as a misspelling: a ten-letter word with two letters swapped has 0.5. */
const similarEnough = '0.45'

/** Finds similar words: typing errors, and codes with a wrong digit. */
export function findSimilar(db: Drizzle, scope: SearchScope, analysis: Analysis): Promise<{ id: string }[]> {
  return db.transaction(async (tx) => {
    // The index uses a session setting, so it is set for this transaction only.
    await tx.execute(sql`select set_config('pg_trgm.word_similarity_threshold', ${similarEnough}, true)`)
    return trigramLeg(tx, scope, analysis)
  })
}

export function trigramLeg(db: Pick<Drizzle, 'select'>, scope: SearchScope, { words, codes }: Analysis) {
  const terms = [...new Set([...words, ...codes])]
  const similarity = (term: string): SQL => sql`word_similarity(${term}, ${table.fuzzy})`
  return db
    .select({ id: table.id })
    .from(table)
    .where(and(withinScope(scope), or(...terms.map((term) => sql`${term} <% ${table.fuzzy}`))))
    .orderBy(desc(sql.join(terms.map(similarity), sql` + `)), asc(table.id))
    .limit(legDepth)
}

const strictQuery = ({ query, languages }: Analysis): SQL =>
  sql`(${sql.join(
    languages.map(
      (language) => sql`websearch_to_tsquery(knowledge_config(${language}), knowledge_plain(${query}))`,
    ),
    sql` || `,
  )})`

/**
 * A query with quotes or exclusions is taken literally. In a plain list of words, some may be missing in the
 * article.
 */
export function relaxedQuery(analysis: Analysis, { excluded }: Pick<SearchScope, 'excluded'>): SQL {
  const strict = strictQuery(analysis)
  if (excluded.length > 0 || analysis.query.includes('"')) return strict
  return sql`replace(${strict}::text, ' & ', ' | ')::tsquery`
}
