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
      summary: 'Submit a draft for review',
      description: 'Emits `article.submitted`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'submit', now: meta.now }, meta),
    }),
    route.action('approve', {
      summary: 'Approve and publish an article',
      description:
        'By a person who is not a contributor to this version, unless the settings lift `separationOfDuties`. Emits `article.published`, and `article.outdated` for ' +
        'the version it replaces.',
      errors: ['invalid_state_transition', 'forbidden'],
      handler: async ({ params, meta }) =>
        execute(params.id, { kind: 'approve', ...(await approval(meta)) }, meta),
    }),
    route.action('schedule', {
      summary: 'Approve an article, to be published later',
      description:
        'By a person who is not a contributor to this version. It is published automatically at that moment; until then readers ' +
        'keep the version they have, and rejecting it makes it a draft again. Emits `article.scheduled`.',
      errors: ['invalid_state_transition', 'forbidden'],
      body: ScheduleArticle,
      handler: async ({ params, body, meta }) =>
        execute(params.id, { kind: 'schedule', ...body, ...(await approval(meta)) }, meta),
    }),
    route.action('publish', {
      errors: ['invalid_state_transition'],
      summary: 'Publish a scheduled article now',
      description: 'It was approved when it was scheduled. Emits what approving does.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'publish', now: meta.now }, meta),
    }),
    route.action('reject', {
      errors: ['invalid_state_transition'],
      summary: 'Send an article back to its author',
      description: 'It is a draft again, also when it was scheduled. Emits `article.rejected`.',
      body: RejectArticle,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'reject', ...body, now: meta.now }, meta),
    }),
    route.action('retire', {
      errors: ['invalid_state_transition'],
      summary: 'Retire a published article',
      description: 'Final: readers no longer get it, nor does search. Emits `article.retired`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'retire', now: meta.now }, meta),
    }),
    route.action('feedback', {
      operationId: 'giveArticleFeedback',
      summary: 'Say whether an article helped',
      description: 'One vote per person; the last one counts. Emits `article.feedback_given`.',
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
