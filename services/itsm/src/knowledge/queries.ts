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

/** Conditions that hold alike for what is worked on and for what is published. */
export function contentConditions(table: ContentTable, { category, language, tag }: ContentFilters) {
  return [
    category === undefined ? undefined : eq(table.category, category),
    language === undefined ? undefined : eq(table.language, language),
    isTagged(table, tag),
  ]
}

const isTagged = (table: ContentTable, tag: string | undefined): SQL | undefined =>
  tag === undefined ? undefined : sql`${table.tags} @> ${JSON.stringify([tag])}::text::jsonb`

/** What writers list: every article as it is worked on. */
export function draftSelection({ status, ...filters }: ArticleFilters): Selection {
  return {
    ...contentSelection(knowledgeArticles, filters),
    anyOf: [status && { column: knowledgeArticles.status, values: status }],
  }
}

/** What readers list: of the articles published for them, now or at an instant, those that are still. */
export function publishedSelection(
  db: Drizzle,
  { status, ...filters }: ArticleFilters,
  now: Instant,
  asOf: Instant | undefined,
): Selection {
  const { where = [], search } = contentSelection(knowledgePublished, filters)
  const asked = status === undefined || status.includes('published') ? undefined : sql`false`
  return { where: [asked, readableAt(db, now, asOf), ...where], search }
}

function contentSelection(
  table: ListedTable,
  { tag, q, ...filters }: Omit<ArticleFilters, 'status'>,
): Selection {
  return {
    where: [...contentConditions(table, filters), ...createdWithin(table.createdAt, filters)],
    // What a GIN index finds is sorted afterwards.
    search: and(q === undefined ? undefined : matchesText(table.listed, q), isTagged(table, tag)),
  }
}

/** Published articles a caller may read: none that have expired, and internal ones only for writers. */
export function readable(
  writer: boolean,
  now: Instant,
  { validUntil, visibility }: Record<'validUntil' | 'visibility', PgColumn> = knowledgePublished,
): SQL | undefined {
  return and(or(isNull(validUntil), gt(validUntil, now)), writer ? undefined : eq(visibility, 'public'))
}

/**
 * What readers may be shown of what was published at an instant: what they could read then, of articles that they can
 * read now. Retiring an article, and making it internal, takes its past from them as well.
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

/** The votes of these articles, as they are or as they were. A vote can be changed, not withdrawn. */
export async function countVotes(
  db: Drizzle,
  tenant: TenantScope,
  articleIds: string[],
  asOf?: Instant,
): Promise<Map<string, Helpfulness>> {
  if (articleIds.length === 0) return new Map()
  const { articleId, createdAt, version } = knowledgeVotes
  // A vote that was never changed is what it was; the log is asked for the others.
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
