import type { ArticleStatus, Helpfulness, Instant, TenantScope } from '@opsplane/contracts'
import type { Drizzle, KeysetTable } from '@opsplane/postgres'
import { and, eq, gt, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { knowledgeArticles, knowledgePublished, knowledgeVotes } from './tables.js'

export interface ArticleFilters {
  status?: ArticleStatus | undefined
  category?: string | undefined
  tag?: string | undefined
  language?: string | undefined
  q?: string | undefined
}

type FilteredTable = KeysetTable & { category: PgColumn; language: PgColumn; tags: PgColumn }

export const ofTenant = (table: KeysetTable, { workspaceId, environment }: TenantScope): SQL | undefined =>
  and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))

/** Conditions that hold alike for what is worked on and for what is published. */
export function contentConditions(table: FilteredTable, filters: ArticleFilters): (SQL | undefined)[] {
  return [
    filters.category === undefined ? undefined : eq(table.category, filters.category),
    filters.language === undefined ? undefined : eq(table.language, filters.language),
    filters.tag === undefined ? undefined : sql`${table.tags} @> ${JSON.stringify([filters.tag])}::jsonb`,
  ]
}

/** What somebody may be shown of the published: nothing that has expired, and internals only to writers. */
export function readable(writer: boolean, now: Instant): SQL | undefined {
  const { validUntil, visibility } = knowledgePublished
  return and(or(isNull(validUntil), gt(validUntil, now)), writer ? undefined : eq(visibility, 'public'))
}

export function articleRowsOf(db: Drizzle, tenant: TenantScope, ids: string[]) {
  const { state, version } = knowledgeArticles
  return db
    .select({ state, version })
    .from(knowledgeArticles)
    .where(and(ofTenant(knowledgeArticles, tenant), inArray(knowledgeArticles.id, ids)))
}

export async function helpfulnessOf(
  db: Drizzle,
  tenant: TenantScope,
  articleIds: string[],
): Promise<Map<string, Helpfulness>> {
  if (articleIds.length === 0) return new Map()
  const { articleId, helpful } = knowledgeVotes
  const rows = await db
    .select({
      articleId,
      helpful: sql<number>`(count(*) filter (where ${helpful} = 'true'))::integer`,
      notHelpful: sql<number>`(count(*) filter (where ${helpful} = 'false'))::integer`,
    })
    .from(knowledgeVotes)
    .where(and(ofTenant(knowledgeVotes, tenant), inArray(articleId, articleIds)))
    .groupBy(articleId)
  return new Map(rows.map(({ articleId: id, ...counts }) => [id ?? '', counts]))
}
