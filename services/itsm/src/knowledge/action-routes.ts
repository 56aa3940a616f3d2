import { Article, ArticleFeedback, RejectArticle, ScheduleArticle } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { SettingsStore } from '../settings/settings-store.js'
import { transitionErrors } from '../transition-errors.js'
import type { ArticleStore } from './article-store.js'
import type { ArticleReading } from './reading.js'
import { tag, toActingUser } from './routes.js'
import type { ArticleCommand } from './state.js'

const contract = {
  method: 'post',
  tag,
  scope: 'knowledge:write',
  response: Article,
  errors: transitionErrors,
} as const

/** The actions with a route of their own, and what readers say. */
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
    defineRoute({
      ...contract,
      operationId: 'submitArticle',
      path: '/knowledge/:id/submit',
      summary: 'Submit a draft for review',
      description: 'Emits `article.submitted`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'submit', now: meta.now }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'approveArticle',
      path: '/knowledge/:id/approve',
      summary: 'Approve and publish an article',
      description:
        'By a person who is not a contributor to this version, unless the settings lift `separationOfDuties`. Emits `article.published`, and `article.outdated` for ' +
        'the version it replaces.',
      errors: [...transitionErrors, 'forbidden'],
      handler: async ({ params, meta }) =>
        execute(params.id, { kind: 'approve', ...(await approval(meta)) }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'scheduleArticle',
      path: '/knowledge/:id/schedule',
      summary: 'Approve an article, to be published later',
      description:
        'By a person who is not a contributor to this version. It is published automatically at that moment; until then readers ' +
        'keep the version they have, and rejecting it makes it a draft again. Emits `article.scheduled`.',
      errors: [...transitionErrors, 'forbidden'],
      body: ScheduleArticle,
      handler: async ({ params, body, meta }) =>
        execute(params.id, { kind: 'schedule', ...body, ...(await approval(meta)) }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'publishArticle',
      path: '/knowledge/:id/publish',
      summary: 'Publish a scheduled article now',
      description: 'It was approved when it was scheduled. Emits what approving does.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'publish', now: meta.now }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'rejectArticle',
      path: '/knowledge/:id/reject',
      summary: 'Send an article back to its author',
      description: 'It is a draft again, also when it was scheduled. Emits `article.rejected`.',
      body: RejectArticle,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'reject', ...body, now: meta.now }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'retireArticle',
      path: '/knowledge/:id/retire',
      summary: 'Retire a published article',
      description: 'Final: readers no longer get it, nor does search. Emits `article.retired`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'retire', now: meta.now }, meta),
    }),
    defineRoute({
      operationId: 'giveArticleFeedback',
      method: 'post',
      path: '/knowledge/:id/feedback',
      summary: 'Say whether an article helped',
      description: 'One vote per person; the last one counts. Emits `article.feedback_given`.',
      tag,
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
