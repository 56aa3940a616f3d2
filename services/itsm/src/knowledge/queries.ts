import type { ArticleStatus, Helpfulness, Instant, TenantScope } from '@opsplane/contracts'
import { stateAtSql } from '@opsplane/eventstore'
import { type Drizzle, type KeysetTable, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, exists, gt, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias, type PgColumn } from 'drizzle-orm/pg-core'
import { type CreatedFilters, createdWithin } from '../lists/created-filters.js'
import { knowledgeArticles, knowledgePublished, knowledgeVotes } from '../schema/knowledge.js'

export interface ContentFilters {
  category?: string | undefined
  tag?: string | undefined
  language?: string | undefined
}

export interface ArticleFilters extends ContentFilters, CreatedFilters {
  status?: ArticleStatus[] | undefined
  q?: string | undefined
}

type ContentTable = KeysetTable & { category: PgColumn; language: PgColumn; tags: PgColumn }
type ListedTable = ContentTable & { createdAt: PgColumn; listed: PgColumn }

export const inTenant = (table: KeysetTable, { workspaceId, environment }: TenantScope): SQL | undefined =>
  and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))

/** Conditions that apply both to drafts and to published articles. */
export function contentConditions(table: ContentTable, { category, language, tag }: ContentFilters) {
  return [
    category === undefined ? undefined : eq(table.category, category),
    language === undefined ? undefined : eq(table.language, language),
    isTagged(table, tag),
  ]
}

const isTagged = (table: ContentTable, tag: string | undefined): SQL | undefined =>
  tag === undefined ? undefined : sql`${table.tags} @> ${JSON.stringify([tag])}::text::jsonb`

/** List of a writer: every article in its current working state. */
export function draftSelection({ status, ...filters }: ArticleFilters): Selection {
  return {
    ...contentSelection(knowledgeArticles, filters),
    anyOf: [status && { column: knowledgeArticles.status, values: status }],
  }
}

/** List of a reader: the articles published for them, now or at an instant, and still readable now. */
export function publishedSelection(
  db: Drizzle,
  { status, ...filters }: ArticleFilters,
  now: Instant,
  asOf: Instant | undefined,
): Selection {
  const { where = [], search } = contentSelection(knowledgePublished, filters)
  const statusCondition = status === undefined || status.includes('published') ? undefined : sql`false`
  return { where: [statusCondition, readableAt(db, now, asOf), ...where], search }
}

function contentSelection(
  table: ListedTable,
  { tag, q, ...filters }: Omit<ArticleFilters, 'status'>,
): Selection {
  return {
    where: [...contentConditions(table, filters), ...createdWithin(table.createdAt, filters)],
    // Results of a GIN index have to be sorted afterwards.
    search: and(q === undefined ? undefined : matchesText(table.listed, q), isTagged(table, tag)),
  }
}

/**
 * Condition: published articles that the caller may read. Excludes
 * expired ones, and internal ones unless the caller is a writer.
 */
export function readable(
  writer: boolean,
  now: Instant,
  { validUntil, visibility }: Record<'validUntil' | 'visibility', PgColumn> = knowledgePublished,
): SQL | undefined {
  return and(or(isNull(validUntil), gt(validUntil, now)), writer ? undefined : eq(visibility, 'public'))
}

/**
 * Condition: published articles that readers could read at `asOf` and can still read now. Retiring an article or making
 * it internal therefore hides its past from them as well.
 */
export function readableAt(db: Drizzle, now: Instant, asOf: Instant | undefined): SQL | undefined {
  if (asOf === undefined) return readable(false, now)
  const present = alias(knowledgePublished, 'present')
  const { id, workspaceId, environment } = knowledgePublished
  const same = [
    eq(present.id, id),
    eq(present.workspaceId, workspaceId),
    eq(present.environment, environment),
  ]
  const stillReadable = db
    .select({ id: present.id })
    .from(present)
    .where(and(...same, readable(false, now, present)))
  return and(readable(false, asOf), exists(stillReadable))
}

export function readArticleRows(db: Drizzle, tenant: TenantScope, ids: string[]) {
  const { state, version } = knowledgeArticles
  return db
    .select({ state, version })
    .from(knowledgeArticles)
    .where(and(inTenant(knowledgeArticles, tenant), inArray(knowledgeArticles.id, ids)))
}

/** Returns the votes of these articles, currently or at an instant. A vote can be changed but not withdrawn. */
export async function countVotes(
  db: Drizzle,
  tenant: TenantScope,
  articleIds: string[],
  asOf?: Instant,
): Promise<Map<string, Helpfulness>> {
  if (articleIds.length === 0) return new Map()
  const { articleId, createdAt, version } = knowledgeVotes
  // A vote that was never changed has its original value; other votes are looked up in the log.
  const helpful = asOf
    ? sql`case when ${version} = 1 then ${knowledgeVotes.helpful} else ${stateAtSql(knowledgeVotes, asOf)}->>'helpful' end`
    : sql`${knowledgeVotes.helpful}`
  const rows = await db
    .select({
      articleId,
      helpful: sql<number>`(count(*) filter (where ${helpful} = 'true'))::integer`,
      notHelpful: sql<number>`(count(*) filter (where ${helpful} = 'false'))::integer`,
    })
    .from(knowledgeVotes)
    .where(
      and(
        inTenant(knowledgeVotes, tenant),
        inArray(articleId, articleIds),
        asOf === undefined ? undefined : lte(createdAt, asOf),
      ),
    )
    .groupBy(articleId)
  return new Map(rows.map(({ articleId: id, ...counts }) => [id ?? '', counts]))
}
