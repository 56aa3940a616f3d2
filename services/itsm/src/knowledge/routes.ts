import {
  Article,
  ArticlePatch,
  AsOfListQuery,
  AsOfQuery,
  NewArticle,
  newId,
  shortPages,
} from '@opsplane/contracts'
import { defineResource, type RequestMeta, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { ArticleStore } from './article-store.js'
import { articleFilters } from './list-filters.js'
import type { ArticleReading } from './reading.js'

export const tag = 'Knowledge'

/** The acting user for the four-eyes principle. */
export const toActingUser = ({ actor, principal }: RequestMeta) => ({ actor, userId: principal.userId })

const asOfForReaders =
  'With `asOf`, readers see the version published for them at that instant, of articles they can still read: a retired, ' +
  'internal or expired article is not shown to them for any instant.'

export const route = defineResource({
  name: 'Article',
  path: '/knowledge',
  tag,
  read: 'knowledge:read',
  write: 'knowledge:write',
  response: Article,
})

/** Routes that read, create and change articles. `:id` is an id or a number such as `KB-12`. */
export function articleRoutes(ctx: ServiceContext, articles: ArticleStore, reading: ArticleReading): Route[] {
  return [
    route.list({
      summary: 'List knowledge articles',
      description:
        'Callers with `knowledge:write` see every article in its working version; readers see the published ' +
        `articles. All given filters must match. Newest first unless \`sort\` specifies otherwise. ${asOfForReaders} ` +
        `${shortPages}`,
      query: articleFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'number'],
      handler: ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        reading.list({ filters, asOf, limit, after, sort, binding }, meta),
    }),

    route.create({
      summary: 'Create an article',
      description: 'Creates a draft. Emits `article.created`.',
      bodyLimitBytes: 2 * 1024 * 1024,
      body: NewArticle,
      handler: async ({ body, meta }) => {
        const id = newId('article')
        const number = `KB-${await ctx.store.numbers.next(meta.tenant.workspaceId, 'article')}`
        const command = {
          kind: 'create',
          id,
          number,
          by: toActingUser(meta),
          now: meta.now,
          input: body,
        } as const
        return articles.create(id, command, meta)
      },
    }),

    route.get({
      summary: 'Get an article',
      description:
        'Accepts the id of the article or its number, such as `KB-12`. Callers with `knowledge:write` see the ' +
        `working version, readers the published one. ${asOfForReaders}`,
      query: AsOfQuery,
      handler: async ({ params, query, meta }) =>
        reading.get(await articles.findId(params.id, meta.tenant), query.asOf, meta),
    }),

    route.update({
      summary: 'Edit an article',
      description:
        'Changes a draft. The first change to a published article creates its next version; readers keep the ' +
        'published version until the next one is approved. Emits `article.updated`; an update without changes emits ' +
        'no event.',
      bodyLimitBytes: 2 * 1024 * 1024,
      body: ArticlePatch,
      errors: ['invalid_state_transition'],
      handler: async ({ params, body, meta }) => {
        const id = await articles.findId(params.id, meta.tenant)
        return articles.handle(id, { kind: 'edit', patch: body, by: toActingUser(meta), now: meta.now }, meta)
      },
    }),

    route.delete({
      summary: 'Delete a draft article',
      description:
        'Allowed only for a draft that was never published; retire other articles. Emits `article.deleted`.',
      errors: ['invalid_state_transition'],
      handler: async ({ params, meta }) =>
        articles.remove(await articles.findId(params.id, meta.tenant), meta.now, meta),
    }),
  ]
}
