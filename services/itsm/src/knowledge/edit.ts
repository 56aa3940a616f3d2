import { type ArticlePatch, changedFields } from '@opsplane/contracts'
import type { ArticleDecision } from './decision.js'
import type { ActingUser, ArticleState } from './state.js'

/** An edit without effect produces no event. The first edit of a published article begins its next version. */
export function edit(
  { patch, by }: { patch: ArticlePatch; by: ActingUser },
  state: ArticleState,
  next: ArticleState,
): ArticleDecision[] {
  const updates = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  const changed = changedFields(state, { ...state, ...updates })
  if (changed.length === 0) return []
  const after: ArticleState = { ...next, ...updates }
  if (state.status !== 'published') {
    const contributors = [...new Set([...state.contributors, by.userId])]
    return [{ type: 'article.updated', after: { ...after, contributors } }]
  }
  const begun = {
    articleVersion: state.articleVersion + 1,
    author: by.actor,
    contributors: [by.userId],
    publishedAt: null,
    publishedBy: null,
  }
  return [{ type: 'article.updated', after: { ...after, ...begun } }]
}
