import { type Article, ArticleVersion, type Instant, notFound, storedState } from '@opsplane/contracts'
import { listPage, readRowsAt } from '@opsplane/eventstore'
import type { ListPage, RequestMeta, Sort } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { and, eq } from 'drizzle-orm'
import { knowledgeArticles, knowledgePublished } from '../schema/knowledge.js'
import type { ArticleStore } from './article-store.js'
import { article } from './domain.js'
import {
  type ArticleFilters,
  draftSelection,
  inTenant,
  publishedSelection,
  readable,
  readableAt,
} from './queries.js'
import { content, publishedPast } from './rows.js'

interface ArticlePage {
  filters: ArticleFilters
  asOf?: Instant | undefined
  limit: number
  after?: string | undefined
  sort: Sort<'createdAt' | 'updatedAt' | 'number'>
  binding: string
}
type Row = { state: Record<string, unknown> }

/** Whether the caller is a writer, and therefore sees drafts, internal articles and expired ones. */
export const isWriter = ({ principal }: Pick<RequestMeta, 'principal'>): boolean =>
  principal.permissions.includes('knowledge:write')

/** Reads articles for a caller: writers get the working state, readers the version published for them. */
export function articleReading({ database: { db }, cursors }: ServiceContext, articles: ArticleStore) {
  /** Returns the articles in their API representation with the content of their published versions. */
  const asPublished = async (rows: Row[], asOf: Instant | undefined, { tenant }: RequestMeta) => {
    const contents = rows.map(({ state }) => {
      // The log contains whole articles as stored by the decider.
      const row = asOf === undefined ? state : content(storedState(article, state))
      return ArticleVersion.omit({ status: true }).parse(row)
    })
    const ids = contents.map(({ articleId }) => articleId)
    const shown = new Map((await articles.all(ids, tenant, asOf)).map((one) => [one.id, one]))
    return contents.flatMap(({ articleId, ...published }): Article[] => {
      const one = shown.get(articleId)
      if (!one) return []
      return [{ ...one, ...published, status: 'published', rejectionReason: null, allowedActions: [] }]
    })
  }

  const publishedRow = async (id: string, meta: RequestMeta) => {
    const [row] = await db
      .select({ state: knowledgePublished.state })
      .from(knowledgePublished)
      .where(
        and(
          inTenant(knowledgePublished, meta.tenant),
          eq(knowledgePublished.id, id),
          readable(isWriter(meta), meta.now),
        ),
      )
    if (!row) throw notFound()
    return row
  }

  const publishedThen = (id: string, asOf: Instant, { tenant, now }: RequestMeta) =>
    readRowsAt(db, {
      table: knowledgePublished,
      past: publishedPast,
      tenant,
      asOf,
      ids: [id],
      where: [readableAt(db, now, asOf)],
    })

  return {
    /** Throws not_found if the caller may not see the article. */
    checkReadable: publishedRow,

    async get(id: string, asOf: Instant | undefined, meta: RequestMeta): Promise<Article> {
      if (isWriter(meta)) return articles.asOf(id, meta.tenant, asOf)
      const rows = asOf === undefined ? [await publishedRow(id, meta)] : await publishedThen(id, asOf, meta)
      const [one] = await asPublished(rows, asOf, meta)
      if (!one) throw notFound()
      return one
    },

    async list({ filters, asOf, ...page }: ArticlePage, meta: RequestMeta): Promise<ListPage<Article>> {
      const { tenant, now } = meta
      const writer = isWriter(meta)
      const table = writer ? knowledgeArticles : knowledgePublished
      const sortColumn = { createdAt: table.createdAt, updatedAt: table.updatedAt, number: table.numberValue }
      const { items, ...rest } = await listPage(db, {
        ...(writer ? draftSelection(filters) : publishedSelection(db, filters, now, asOf)),
        table,
        ...(!writer && { past: publishedPast }),
        // Bodies are sealed, and no filter uses them.
        onlyExposed: true,
        tenant,
        asOf,
        sort: { column: sortColumn[page.sort.field], direction: page.sort.direction },
        limit: page.limit,
        after: page.after,
        binding: `${writer}|${page.binding}`,
        cursors,
        present: (row) => row,
      })
      if (!writer) return { ...rest, items: await asPublished(items, asOf, meta) }
      return { ...rest, items: await articles.withVotes(items.map(articles.presentRow), tenant, asOf) }
    },
  }
}
export type ArticleReading = ReturnType<typeof articleReading>
