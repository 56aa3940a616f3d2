import type { Actor, ArticleStatus } from '@opsplane/contracts'
import { article } from './domain.js'
import type { ActingUser, ArticleCommand, ArticleState, CreateArticle } from './state.js'

/** Sample articles, each built by applying commands. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'

const person = (userId: string, name: string): ActingUser => {
  const actor: Actor = { id: userId, name, type: 'user' }
  return { userId, actor }
}
export const author = person('usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', 'Ada')
export const reviewer = person('usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0G', 'Grace')

export const create: CreateArticle = {
  kind: 'create',
  id: 'art_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'KB-1',
  by: author,
  now: createdAt,
  input: {
    title: 'VPN does not connect',
    body: 'Restart the client. Error VPN-809 means that the port is blocked.',
    summary: null,
    tags: ['vpn'],
    category: 'network',
    language: 'en',
    visibility: 'public',
    validUntil: null,
    sourceIncidentId: 'INC-7',
    sourceProblemId: null,
  },
}

export const commands = {
  edit: { kind: 'edit', by: author, now, patch: { title: 'VPN does not connect from home' } },
  submit: { kind: 'submit', now },
  approve: { kind: 'approve', by: reviewer, now },
  schedule: { kind: 'schedule', by: reviewer, publishAt: '2026-03-03T10:00:00.000Z', now },
  publish: { kind: 'publish', now },
  reject: { kind: 'reject', reason: 'Too short.', now },
  retire: { kind: 'retire', now },
  delete: { kind: 'delete', now },
} as const satisfies Record<string, ArticleCommand>

export function after(...path: ArticleCommand[]): ArticleState {
  let state: ArticleState | null = null
  for (const command of [create, ...path]) state = article.decide(command, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

export const articles: Record<ArticleStatus, ArticleState> = {
  draft: after(),
  in_review: after(commands.submit),
  scheduled: after(commands.submit, commands.schedule),
  published: after(commands.submit, commands.approve),
  retired: after(commands.submit, commands.approve, commands.retire),
}
/** A published article whose next version is being written. */
export const redraft = after(commands.submit, commands.approve, commands.edit)
