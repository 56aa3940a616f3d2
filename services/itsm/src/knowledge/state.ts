import type { Actor, ArticleEventState, ArticlePatch, Instant, NewArticle } from '@opsplane/contracts'

/** A whole article: what events carry, its body, and who has had a hand in the version being worked on. */
export interface ArticleState extends ArticleEventState {
  body: string
  /** User ids; none of them may approve. A user's API keys count as the user. */
  contributors: string[]
}

/** Who acts. */
export interface By {
  actor: Actor
  userId: string
}

export interface CreateArticle {
  kind: 'create'
  id: string
  number: string
  by: By
  now: Instant
  input: NewArticle
}

export type ArticleCommand =
  | CreateArticle
  | { kind: 'edit'; by: By; now: Instant; patch: ArticlePatch }
  | { kind: 'submit' | 'publish' | 'retire' | 'delete'; now: Instant }
  | { kind: 'approve'; by: By; now: Instant }
  | { kind: 'schedule'; by: By; publishAt: Instant; now: Instant }
  | { kind: 'reject'; reason: string; now: Instant }
