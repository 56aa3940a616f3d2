import type { Actor, ArticleEventState, ArticlePatch, Instant, NewArticle } from '@opsplane/contracts'

/** A whole article: what events carry, and who has had a hand in the version being worked on. */
export interface ArticleState extends ArticleEventState {
  /** User ids; none of them may approve. A user's API keys count as the user. */
  contributors: string[]
}

/** Who acts. */
export interface ActingUser {
  actor: Actor
  userId: string
}

/** `separationOfDuties` by the settings of the desk: who has written on a version does not approve it unless it is false. */
export interface ApprovalInput {
  by: ActingUser
  separationOfDuties?: boolean
}

export interface CreateArticle {
  kind: 'create'
  id: string
  number: string
  by: ActingUser
  now: Instant
  input: NewArticle
}

export type ArticleCommand =
  | CreateArticle
  | { kind: 'edit'; by: ActingUser; now: Instant; patch: ArticlePatch }
  | { kind: 'submit' | 'publish' | 'retire' | 'delete'; now: Instant }
  | (ApprovalInput & { kind: 'approve'; now: Instant })
  | (ApprovalInput & { kind: 'schedule'; publishAt: Instant; now: Instant })
  | { kind: 'reject'; reason: string; now: Instant }
