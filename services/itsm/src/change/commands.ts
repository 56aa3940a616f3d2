import type { Actor, Instant, NewChange } from '@opsplane/contracts'
import type { RiskFacts } from './risk.js'

/** Drafts a change. `number` is the next of the workspace. */
export interface CreateChange {
  kind: 'create'
  id: string
  number: string
  by: Actor
  /** The person; an API key counts as whom it belongs to. */
  userId: string
  now: Instant
  input: NewChange
  facts: RiskFacts
}

export type ChangeCommand = CreateChange
