import type { Instant, KnowledgeSearch, TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, inArray, type SQL, sql } from 'drizzle-orm'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import { contentConditions, inTenant, readable } from '../queries.js'

/** The scope of one search: the caller's tenant, the caller's visibility, and the filters. */
export interface SearchScope {
  tenant: TenantScope
  writer: boolean
  now: Instant
  filters: KnowledgeSearch['filters']
  /** Words and phrases that results must not contain. */
  excluded: readonly string[]
}

/** Condition applied in every leg, so that invisible articles do not use up its ranks. */
export const withinScope = ({ tenant, writer, now, filters, excluded }: SearchScope): SQL | undefined =>
  and(
    inTenant(table, tenant),
    readable(writer, now),
    ...contentConditions(table, filters),
    ...excluded.map((text) => sql`not (${table.search} @@ ${inLanguageOfArticle(text)})`),
  )

/** Stems the text in the language of the article, because the stems of another language do not occur in it. */
const inLanguageOfArticle = (text: string): SQL =>
  sql`phraseto_tsquery(knowledge_config(${table.language}), knowledge_plain(${text}))`

/** Filters ids that were found without the database by the scope. Keeps their order. */
export async function filterByScope(db: Drizzle, scope: SearchScope, ids: string[]): Promise<string[]> {
  if (scope.excluded.length === 0 || ids.length === 0) return ids
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .where(and(withinScope(scope), inArray(table.id, ids)))
  const kept = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => kept.has(id))
}
