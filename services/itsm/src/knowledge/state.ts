import type { Actor, ArticleEventState, ArticlePatch, Instant, NewArticle } from '@opsplane/contracts'

/** An article as stored: the state in events, plus the contributors to the version being worked on. */
export interface ArticleState extends ArticleEventState {
  /** User ids of the contributors, who may not approve. An API key counts as its owner. */
  contributors: string[]
}

/** The acting user. */
export interface ActingUser {
  actor: Actor
  userId: string
}

/**
 * `separationOfDuties` comes from the workspace settings. Unless
 * it is false, contributors to a version may not approve it.
 */
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
