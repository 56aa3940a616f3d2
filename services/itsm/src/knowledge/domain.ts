import { ApiError, type Decider, type KnowledgeEventType, notFound } from '@opsplane/contracts'
import { edited } from './edit.js'
import { fingerprintOf } from './fingerprint.js'
import { articleRows } from './rows.js'
import type { ArticleCommand, ArticleState, By, CreateArticle } from './state.js'
import { statusAfter } from './transitions.js'

export interface ArticleDecision {
  type: KnowledgeEventType
  after: ArticleState | null
  extras?: Record<string, unknown>
}

/** Every rule of an article. Its events are `knowledgeEvents`; which action applies when is `transitions`. */
export const article: Decider<ArticleState, ArticleCommand, object> = {
  resourceType: 'article',
  table: 'knowledge_articles',
  decide,
  expose: ({ body: _, contributors: __, ...exposed }) => exposed,
  describe: ({ title, number }) => ({ displayName: title, number }),
  project: articleRows,
}

function decide(command: ArticleCommand, state: ArticleState | null): ArticleDecision[] {
  if (command.kind === 'create') return create(command, state)
  if (state === null) throw notFound()
  const status = statusAfter(command.kind, state)
  const after = { ...state, status, updatedAt: command.now }
  switch (command.kind) {
    case 'edit':
      return edited(command, state, after)
    case 'submit':
      return [{ type: 'article.submitted', after: { ...after, rejectionReason: null } }]
    case 'approve':
      return approve(command.by, state, after)
    case 'reject': {
      const { reason } = command
      return [{ type: 'article.rejected', after: { ...after, rejectionReason: reason }, extras: { reason } }]
    }
    case 'retire':
      return [
        { type: 'article.retired', after: { ...after, publishedVersion: null, retiredAt: command.now } },
      ]
    case 'delete':
      return [{ type: 'article.deleted', after: null, extras: { articleId: state.id } }]
  }
}

function create(
  { id, number, by, now, input }: CreateArticle,
  state: ArticleState | null,
): ArticleDecision[] {
  if (state !== null) throw new ApiError('conflict', 'An article with this id exists already.')
  const after: ArticleState = {
    id,
    number,
    ...input,
    bodySha256: fingerprintOf(input.body),
    status: 'draft',
    articleVersion: 1,
    publishedVersion: null,
    rejectionReason: null,
    author: by.actor,
    contributors: [by.userId],
    publishedAt: null,
    publishedBy: null,
    retiredAt: null,
    createdAt: now,
    updatedAt: now,
  }
  return [{ type: 'article.created', after }]
}

/** Two pairs of eyes: whoever has written on a version cannot let it through. */
function approve({ actor, userId }: By, state: ArticleState, next: ArticleState): ArticleDecision[] {
  if (state.contributors.includes(userId))
    throw new ApiError('forbidden', 'Somebody who has not written on this version must approve it.')
  const after = {
    ...next,
    publishedVersion: state.articleVersion,
    publishedAt: next.updatedAt,
    publishedBy: actor,
  }
  const published: ArticleDecision = { type: 'article.published', after }
  if (state.publishedVersion === null) return [published]
  const extras = { outdatedVersion: state.publishedVersion }
  return [published, { type: 'article.outdated', after, extras }]
}
