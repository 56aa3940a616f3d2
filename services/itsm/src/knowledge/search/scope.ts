import type { Instant, KnowledgeSearch, TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, inArray, type SQL, sql } from 'drizzle-orm'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import { contentConditions, inTenant, readable } from '../queries.js'

/** What one search may find: the caller's tenant, what the caller may see, and what was asked for. */
export interface SearchScope {
  tenant: TenantScope
  writer: boolean
  now: Instant
  filters: KnowledgeSearch['filters']
  /** Words and phrases that what is found must not have. */
  excluded: readonly string[]
}

/** Holds in every leg, so that no leg's places are spent on what may not be shown. */
export const withinScope = ({ tenant, writer, now, filters, excluded }: SearchScope): SQL | undefined =>
  and(
    inTenant(table, tenant),
    readable(writer, now),
    ...contentConditions(table, filters),
    ...excluded.map((text) => sql`not (${table.search} @@ ${inLanguageOfArticle(text)})`),
  )

/** Stemmed as the article is: another language's stem of the same word is not in it. */
const inLanguageOfArticle = (text: string): SQL =>
  sql`phraseto_tsquery(knowledge_config(${table.language}), knowledge_plain(${text}))`

/** Of articles found without the database those that are within the scope, in the same order. */
export async function filterByScope(db: Drizzle, scope: SearchScope, ids: string[]): Promise<string[]> {
  if (scope.excluded.length === 0 || ids.length === 0) return ids
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .where(and(withinScope(scope), inArray(table.id, ids)))
  const kept = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => kept.has(id))
}
