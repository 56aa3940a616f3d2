import { type Article, ArticleVersion, notFound } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import type { ListPage, RequestMeta } from '@opsplane/http'
import { keysetPage, matchesText } from '@opsplane/postgres'
import { and, eq, sql } from 'drizzle-orm'
import { type ArticleStore, versionStatus } from './article-store.js'
import { type ArticleFilters, contentConditions, ofTenant, readable } from './queries.js'
import { versionRowId } from './rows.js'
import type { ArticleState } from './state.js'
import { knowledgeArticles, knowledgePublished, knowledgeVersions } from './tables.js'

interface PageOf {
  limit: number
  after?: string | undefined
  sort: { field: 'createdAt'; direction: 'asc' | 'desc' }
  binding: string
}

/** Whether the caller works on articles, and so sees drafts, internals and what has expired. */
export const isWriter = ({ principal }: Pick<RequestMeta, 'principal'>): boolean =>
  principal.permissions.includes('knowledge:write')

/** What a caller gets of articles: writers what is being worked on, readers what is published for them. */
export function articleReading({ database: { db }, cursors }: BackendContext, articles: ArticleStore) {
  /** As the articles themselves would be shown, in the words of their published versions. */
  const asPublished = async (rows: { state: Record<string, unknown> }[], { tenant }: RequestMeta) => {
    const contents = rows.map(({ state }) => ArticleVersion.omit({ status: true }).parse(state))
    const ids = contents.map(({ articleId }) => articleId)
    const shown = new Map((await articles.all(ids, tenant)).map((article) => [article.id, article]))
    return contents.flatMap(({ articleId, ...content }): Article[] => {
      const article = shown.get(articleId)
      if (!article) return []
      return [{ ...article, ...content, status: 'published', rejectionReason: null, allowedActions: [] }]
    })
  }

  const publishedRow = async (id: string, meta: RequestMeta) => {
    const [row] = await db
      .select({ state: knowledgePublished.state })
      .from(knowledgePublished)
      .where(
        and(
          ofTenant(knowledgePublished, meta.tenant),
          eq(knowledgePublished.id, id),
          readable(isWriter(meta), meta.now),
        ),
      )
    if (!row) throw notFound()
    return row
  }

  const versionOf = (state: ArticleState, row: { state: Record<string, unknown> }): ArticleVersion => {
    const version = ArticleVersion.omit({ status: true }).parse(row.state)
    return { ...version, status: versionStatus(version.articleVersion, state) }
  }

  return {
    /** Throws not_found for what the caller may not see. */
    checkReadable: publishedRow,

    async get(id: string, meta: RequestMeta): Promise<Article> {
      if (isWriter(meta)) return articles.get(id, meta.tenant)
      const [article] = await asPublished([await publishedRow(id, meta)], meta)
      if (!article) throw notFound()
      return article
    },

    async list(filters: ArticleFilters, page: PageOf, meta: RequestMeta): Promise<ListPage<Article>> {
      const writer = isWriter(meta)
      const table = writer ? knowledgeArticles : knowledgePublished
      const { status, q } = filters
      const { sort, binding, ...bounds } = page
      const { items, ...rest } = await keysetPage(db, {
        table,
        tenant: meta.tenant,
        where: [
          ...contentConditions(table, filters),
          ...(writer ? [status && eq(knowledgeArticles.status, status)] : [readable(false, meta.now)]),
          !writer && status && status !== 'published' ? sql`false` : undefined,
        ],
        search: q === undefined ? undefined : matchesText(table.listed, q),
        sort: { column: table.createdAt, direction: sort.direction },
        ...bounds,
        binding: `${writer}|${binding}`,
        cursors,
        present: (row) => row,
      })
      if (!writer) return { ...rest, items: await asPublished(items, meta) }
      return { ...rest, items: await articles.withVotes(items.map(articles.presentRow), meta.tenant) }
    },

    async versions(
      id: string,
      page: Omit<PageOf, 'sort'>,
      meta: RequestMeta,
    ): Promise<ListPage<ArticleVersion>> {
      const state = await articles.stateOf(id, meta.tenant)
      return keysetPage(db, {
        table: knowledgeVersions,
        tenant: meta.tenant,
        where: [eq(knowledgeVersions.articleId, id)],
        sort: { column: knowledgeVersions.articleVersion, direction: 'desc' },
        ...page,
        cursors,
        present: (row) => versionOf(state, row),
      })
    },

    async version(id: string, articleVersion: number, meta: RequestMeta): Promise<ArticleVersion> {
      const state = await articles.stateOf(id, meta.tenant)
      const [row] = await db
        .select({ state: knowledgeVersions.state })
        .from(knowledgeVersions)
        .where(
          and(
            ofTenant(knowledgeVersions, meta.tenant),
            eq(knowledgeVersions.id, versionRowId(id, articleVersion)),
          ),
        )
      if (!row) throw notFound()
      return versionOf(state, row)
    },
  }
}
export type ArticleReading = ReturnType<typeof articleReading>
