import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, inArray, sql } from 'drizzle-orm'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import { inTenant } from '../queries.js'
import type { Analysis } from './analysis.js'

/** Further words of a query add little information about its topic. */
const maxWords = 16
/** Minimum similarity at which a word counts as a misspelling; it then counts by its similarity. */
const sameWord = 0.55

/**
 * Returns for each article its share of the query's words, without the stop words of its language. Misspelled words
 * count partially. Articles missing in the result contain none.
 */
export async function computeCoverage(
  db: Drizzle,
  tenant: TenantScope,
  { query }: Pick<Analysis, 'query'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const words = [...new Set(query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])].slice(0, maxWords)
  if (ids.length === 0 || words.length === 0) return new Map()
  const similar = sql`word_similarity(plain, ${table.fuzzy})`
  const covered = sql<number>`(
    select coalesce(avg(case when ${table.search} @@ asked then 1
      when length(plain) >= 4 and ${similar} >= ${sql.raw(String(sameWord))} then ${similar} else 0 end), 0)::float8
    from (select plain, plainto_tsquery(knowledge_config(${table.language}), plain) as asked
      from (select knowledge_plain(word) as plain from jsonb_array_elements_text(${JSON.stringify(words)}::jsonb) word) words
    ) each where numnode(asked) > 0)`
  const rows = await db
    .select({ id: table.id, covered })
    .from(table)
    .where(and(inTenant(table, tenant), inArray(table.id, [...ids])))
  return new Map(rows.map(({ id, covered: share }) => [id, share]))
}
