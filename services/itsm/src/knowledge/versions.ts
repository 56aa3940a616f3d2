import {
  ArticleVersion,
  type ArticleVersionStatus,
  type Instant,
  notFound,
  storedState,
} from '@opsplane/contracts'
import { readStreamPageAt } from '@opsplane/eventstore'
import type { ListPage, RequestMeta } from '@opsplane/http'
import { keysetPage, matchesText, type Selection } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { eq, inArray, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { knowledgeVersions as table } from '../schema/knowledge.js'
import { type ArticleStore, type ArticleVersionInfo, versionStatus } from './article-store.js'
import { article } from './domain.js'
import { content, versionsPast } from './rows.js'

interface VersionPage {
  filters: { status?: ArticleVersionStatus[] | undefined; q?: string | undefined }
  asOf?: Instant | undefined
  limit: number
  after?: string | undefined
  binding: string
}

/** Reads the versions of an article, for writers. */
export function articleVersions({ database: { db }, cursors }: ServiceContext, articles: ArticleStore) {
  const page = (
    id: string,
    versionInfo: ArticleVersionInfo,
    selection: Selection,
    { asOf, limit, after, binding }: Omit<VersionPage, 'filters'>,
    { tenant }: RequestMeta,
  ): Promise<ListPage<ArticleVersion>> => {
    const sort = { column: table.articleVersion, direction: 'desc' } as const
    const options = { table, tenant, sort, limit, after, binding, cursors }
    const where = selection.where ?? []
    if (asOf === undefined) {
      return keysetPage(db, {
        ...options,
        where: [eq(table.articleId, id), ...where],
        present: ({ state }) => toArticleVersion(state, versionInfo),
      })
    }
    return readStreamPageAt(db, {
      ...options,
      where,
      stream: id,
      past: versionsPast,
      asOf,
      // The log contains whole articles as stored by the decider.
      present: ({ state }) => toArticleVersion(content(storedState(article, state)), versionInfo),
    })
  }

  return {
    async list(id: string, { filters, ...bounds }: VersionPage, meta: RequestMeta) {
      const versionInfo = await articles.getVersionInfo(id, meta.tenant, bounds.asOf)
      const { status, q } = filters
      const where = [
        status && hasStatus(status, versionInfo),
        // An article has few versions, so they are searched row by row.
        q === undefined ? undefined : matchesText(table.listed, q),
      ]
      return page(id, versionInfo, { where }, bounds, meta)
    },

    /** Throws not_found if the version does not exist, or did not exist at `asOf`. */
    async get(id: string, n: number, asOf: Instant | undefined, meta: RequestMeta): Promise<ArticleVersion> {
      const versionInfo = await articles.getVersionInfo(id, meta.tenant, asOf)
      if (!Number.isInteger(n) || n > versionInfo.articleVersion) throw notFound()
      const where = [eq(table.articleVersion, n)]
      const { items } = await page(id, versionInfo, { where }, { asOf, limit: 1, binding: 'one' }, meta)
      const [version] = items
      if (!version) throw notFound()
      return version
    },
  }
}
export type ArticleVersions = ReturnType<typeof articleVersions>

function toArticleVersion(row: object, versionInfo: ArticleVersionInfo): ArticleVersion {
  const version = ArticleVersion.omit({ status: true }).parse(row)
  return { ...version, status: versionStatus(version.articleVersion, versionInfo) }
}

/**
 * `versionStatus` as a condition: the last two versions and the
 * published one have individual statuses; all others are outdated.
 */
function hasStatus(statuses: ArticleVersionStatus[], versionInfo: ArticleVersionInfo): SQL | undefined {
  const { articleVersion, publishedVersion } = versionInfo
  const apart = [articleVersion, articleVersion - 1, ...(publishedVersion === null ? [] : [publishedVersion])]
  const matchingVersions = apart.filter((version) => statuses.includes(versionStatus(version, versionInfo)))
  return or(
    matchingVersions.length === 0 ? sql`false` : inArray(table.articleVersion, matchingVersions),
    statuses.includes('outdated') ? notInArray(table.articleVersion, apart) : undefined,
  )
}
