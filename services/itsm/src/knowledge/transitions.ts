import { type ArticleAction, type ArticleStatus, articleActions } from '@opsplane/contracts'
import { transitionRules } from '../transition-rules.js'

/** Result of an action. `only` limits it to articles that have been published before (`live`) or never. */
interface Transition {
  to: ArticleStatus
  only?: 'live' | 'never_published'
}

/**
 * All transitions of an article. Editing a published article begins its next version; readers keep the current one
 * until the next is approved. Retired is final.
 */
export const transitions: Record<ArticleAction, Partial<Record<ArticleStatus, Transition>>> = {
  edit: { draft: { to: 'draft' }, published: { to: 'draft' } },
  submit: { draft: { to: 'in_review' } },
  approve: { in_review: { to: 'published' } },
  schedule: { in_review: { to: 'scheduled' } },
  publish: { scheduled: { to: 'published' } },
  reject: { in_review: { to: 'draft' }, scheduled: { to: 'draft' } },
  retire: {
    draft: { to: 'retired', only: 'live' },
    in_review: { to: 'retired', only: 'live' },
    scheduled: { to: 'retired', only: 'live' },
    published: { to: 'retired' },
  },
  delete: { draft: { to: 'draft', only: 'never_published' } },
}

/** The fields of an article that decide which actions are allowed. */
export interface ArticleTransitionState {
  status: ArticleStatus
  publishedVersion: number | null
}

export const { allowedActions, statusAfter } = transitionRules<
  ArticleAction,
  ArticleStatus,
  ArticleTransitionState
>({
  actions: articleActions,
  targets: (action, state) => {
    const transition = findTransition(action, state)
    return transition && [transition.to]
  },
  describe: ({ status }) => status,
})

function findTransition(
  action: ArticleAction,
  { status, publishedVersion }: ArticleTransitionState,
): Transition | undefined {
  const transition = transitions[action][status]
  if (!transition?.only) return transition
  return (transition.only === 'live') === (publishedVersion !== null) ? transition : undefined
}
