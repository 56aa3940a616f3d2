import {
  type Actor,
  ApiError,
  alreadyExists,
  type Decider,
  type Instant,
  invalidField,
  notFound,
} from '@opsplane/contracts'
import type { ArticleDecision } from './decision.js'
import { edit } from './edit.js'
import { articleRows } from './rows.js'
import type { ApprovalInput, ArticleCommand, ArticleState, CreateArticle } from './state.js'
import { statusAfter } from './transitions.js'

/**
 * All rules of an article. `knowledgeEvents` lists its events;
 * `transitions` defines which action is allowed in which status.
 */
export const article: Decider<ArticleState, ArticleCommand, object> = {
  resourceType: 'article',
  table: 'knowledge_articles',
  decide,
  expose: ({ contributors: _, ...exposed }) => exposed,
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
      return edit(command, state, after)
    case 'submit':
      return [{ type: 'article.submitted', after: { ...after, rejectionReason: null } }]
    case 'approve':
      return publish(state, { ...after, publishedBy: approver(command, state) })
    case 'schedule': {
      const publishAt = checkMoment(command, state)
      const publishedBy = approver(command, state)
      return [
        { type: 'article.scheduled', after: { ...after, publishAt, publishedBy }, extras: { publishAt } },
      ]
    }
    case 'publish':
      return publish(state, after)
    case 'reject': {
      const { reason } = command
      const rejected = { ...after, rejectionReason: reason, publishAt: null, publishedBy: null }
      return [{ type: 'article.rejected', after: rejected, extras: { reason } }]
    }
    case 'retire': {
      const retired = { ...after, publishedVersion: null, publishAt: null, retiredAt: command.now }
      return [{ type: 'article.retired', after: retired }]
    }
    case 'delete':
      return [{ type: 'article.deleted', after: null, extras: { articleId: state.id } }]
  }
}

function create(
  { id, number, by, now, input }: CreateArticle,
  state: ArticleState | null,
): ArticleDecision[] {
  if (state !== null) throw alreadyExists('article')
  const after: ArticleState = {
    id,
    number,
    ...input,
    status: 'draft',
    articleVersion: 1,
    publishedVersion: null,
    rejectionReason: null,
    publishAt: null,
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

/** Four-eyes principle: a contributor to a version may not approve it, unless the settings allow it. */
function approver({ by, separationOfDuties = true }: ApprovalInput, { contributors }: ArticleState): Actor {
  const { actor, userId } = by
  if (separationOfDuties && contributors.includes(userId))
    throw new ApiError('forbidden', 'A contributor to this version cannot approve it.')
  return actor
}

/** Throws validation_failed for an instant that is in the past, or at which the article would have expired. */
function checkMoment({ publishAt, now }: { publishAt: Instant; now: Instant }, state: ArticleState): Instant {
  if (publishAt <= now)
    throw invalidField(
      '/publishAt',
      'past',
      'The moment must be in the future. To publish now, approve the article.',
    )
  if (state.validUntil !== null && state.validUntil <= publishAt)
    throw invalidField(
      '/publishAt',
      'expired_by_then',
      `The article is valid until ${state.validUntil} only.`,
    )
  return publishAt
}

function publish(state: ArticleState, next: ArticleState): ArticleDecision[] {
  const after = {
    ...next,
    publishedVersion: state.articleVersion,
    publishAt: null,
    publishedAt: next.updatedAt,
  }
  const decision: ArticleDecision = { type: 'article.published', after }
  if (state.publishedVersion === null) return [decision]
  const extras = { outdatedVersion: state.publishedVersion }
  return [decision, { type: 'article.outdated', after, extras }]
}
