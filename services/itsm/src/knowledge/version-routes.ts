import { ArticleVersion, AsOfListQuery, AsOfQuery } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ArticleStore } from './article-store.js'
import { versionFilters } from './list-filters.js'
import { tag } from './routes.js'
import type { ArticleVersions } from './versions.js'

const contract = {
  tag,
  scope: 'knowledge:write',
  response: ArticleVersion,
  errors: ['not_found'],
} as const

const asOf = AsOfListQuery.shape.asOf.meta({
  description: 'Returns the versions that existed at this instant, in their state at that instant.',
  example: '2026-03-02T10:00:00.000Z',
})

/** Routes that read the versions of an article. */
export function versionRoutes(articles: ArticleStore, versions: ArticleVersions): Route[] {
  return [
    defineList({
      ...contract,
      operationId: 'listArticleVersions',
      path: '/knowledge/:id/versions',
      summary: 'List the versions of an article',
      description: 'Returns versions that match all given filters, newest first.',
      query: versionFilters.extend({ asOf }),
      sorts: [],
      errors: [...contract.errors],
      handler: async ({ params, query: { limit, after, asOf, ...filters }, binding, meta }) =>
        versions.list(
          await articles.findId(params.id, meta.tenant),
          { filters, asOf, limit, after, binding },
          meta,
        ),
    }),
    defineRoute({
      ...contract,
      operationId: 'getArticleVersion',
      method: 'get',
      path: '/knowledge/:id/versions/:n',
      summary: 'Get a version of an article',
      description:
        'Includes the text, the author and the publisher of the version. With `asOf`, returns the state at that ' +
        'instant.',
      query: AsOfQuery,
      errors: [...contract.errors],
      handler: async ({ params, query, meta }) =>
        versions.get(
          await articles.findId(params.id, meta.tenant),
          parseVersionNumber(params.n),
          query.asOf,
          meta,
        ),
    }),
  ]
}

/** Returns NaN, which matches no version, unless the number has its canonical form: each version has one URL only. */
const parseVersionNumber = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN)
