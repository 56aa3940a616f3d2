import { type Article, ArticleFeedback, RejectArticle, ScheduleArticle } from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import { z } from 'zod'
import type { SettingsStore } from '../settings/settings-store.js'
import type { ArticleStore } from './article-store.js'
import type { ArticleReading } from './reading.js'
import { route, toActingUser } from './routes.js'
import type { ArticleCommand } from './state.js'

/** Routes of the actions that have a dedicated path, and of the readers' feedback. */
export function articleActionRoutes(
  articles: ArticleStore,
  { reading, settings }: { reading: ArticleReading; settings: SettingsStore },
): Route[] {
  const approval = async (meta: RequestMeta) => {
    const { separationOfDuties } = await settings.current(meta.tenant)
    return { by: toActingUser(meta), separationOfDuties, now: meta.now }
  }
  const execute = async (reference: string, command: ArticleCommand, meta: RequestMeta): Promise<Article> =>
    articles.handle(await articles.findId(reference, meta.tenant), command, meta)
  return [
    route.action('submit', {
      errors: ['invalid_state_transition'],
      summary: 'Submit a draft article for review',
      description: 'Emits `article.submitted`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'submit', now: meta.now }, meta),
    }),
    route.action('approve', {
      summary: 'Approve and publish an article',
      description:
        'The caller must not be a contributor to this version, unless the settings disable `separationOfDuties`. ' +
        'Emits `article.published`, and `article.outdated` for the replaced version.',
      errors: ['invalid_state_transition', 'forbidden'],
      handler: async ({ params, meta }) =>
        execute(params.id, { kind: 'approve', ...(await approval(meta)) }, meta),
    }),
    route.action('schedule', {
      summary: 'Approve an article for later publication',
      description:
        'The caller must not be a contributor to this version. The article is published automatically at the ' +
        'specified instant; until then readers keep the current version, and rejecting the article returns it to ' +
        'draft. Emits `article.scheduled`.',
      errors: ['invalid_state_transition', 'forbidden'],
      body: ScheduleArticle,
      handler: async ({ params, body, meta }) =>
        execute(params.id, { kind: 'schedule', ...body, ...(await approval(meta)) }, meta),
    }),
    route.action('publish', {
      errors: ['invalid_state_transition'],
      summary: 'Publish a scheduled article now',
      description:
        'Requires no further approval, because the article was approved when it was scheduled. Emits the same events ' +
        'as approving.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'publish', now: meta.now }, meta),
    }),
    route.action('reject', {
      errors: ['invalid_state_transition'],
      summary: 'Reject an article',
      description: 'Returns the article to draft, even if it was scheduled. Emits `article.rejected`.',
      body: RejectArticle,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'reject', ...body, now: meta.now }, meta),
    }),
    route.action('retire', {
      errors: ['invalid_state_transition'],
      summary: 'Retire a published article',
      description:
        'Retirement is final: readers can no longer read the article, and search no longer returns it. Emits ' +
        '`article.retired`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'retire', now: meta.now }, meta),
    }),
    route.action('feedback', {
      operationId: 'giveArticleFeedback',
      summary: 'Rate whether an article helped',
      description: 'Each person has one vote; the last vote counts. Emits `article.feedback_given`.',
      scope: 'knowledge:read',
      body: ArticleFeedback,
      response: z.object({ helpful: z.boolean() }),
      errors: ['version_conflict'],
      handler: async ({ params, body, meta }) => {
        const id = await articles.findId(params.id, meta.tenant)
        await reading.checkReadable(id, meta)
        return articles.vote(id, meta.principal.userId, body.helpful, meta)
      },
    }),
  ]
}
