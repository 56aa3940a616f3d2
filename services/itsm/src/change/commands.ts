import type {
  Actor,
  ChangeConflict,
  ChangeOutcome,
  ChangePatch,
  ChangePolicyState,
  Instant,
  NewChange,
} from '@opsplane/contracts'
import type { Clash } from '../change-window/blackout-guard.js'
import type { UpdateConflicts } from '../change-window/conflict-events.js'
import type { RiskFacts } from './policy/risk.js'
import type { TemplateAgreement } from './template/from-template.js'

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
  /** For a standard change. */
  agreed?: TemplateAgreement | undefined
}

/** Hands a draft in. `policies` are the active ones, in their order; `approvalIds` are for what is asked for. */
export interface SubmitChange {
  kind: 'submit'
  userId: string
  facts: RiskFacts
  policies: readonly ChangePolicyState[]
  approvalIds: readonly string[]
  /** By the settings of the desk; duties are kept apart unless it is false. */
  separationOfDuties?: boolean
  /** For a standard change. */
  agreed?: TemplateAgreement | undefined
  clash?: Clash
}

/** A person's decision on the pending approvals that are theirs, or on one of them. */
export interface DecideOnChange {
  by: Actor
  userId: string
  approvalId?: string | undefined
}

/** One action of the transition table. */
export type ChangeStep =
  | {
      kind: 'edit'
      userId: string
      patch: ChangePatch
      facts: RiskFacts
      /** Where it is, or is to be, a standard change. */
      agreed?: TemplateAgreement | undefined
      /** Where the patch bears on them. */
      conflicts?: ChangeConflict[]
    }
  | SubmitChange
  | (DecideOnChange & {
      kind: 'approve'
      comment?: string | undefined
      /** For what is asked for next. */
      approvalIds: readonly string[]
    })
  | (DecideOnChange & { kind: 'reject'; reason: string })
  | { kind: 'implement'; userId: string; clash?: Clash }
  | { kind: 'resume'; userId: string }
  | { kind: 'complete'; userId: string; outcome: ChangeOutcome; closeNotes?: string | undefined }
  | { kind: 'rollback'; userId: string; closeNotes?: string | undefined }
  | { kind: 'close'; userId: string; reviewNotes?: string | undefined }
  | { kind: 'cancel'; reason?: string | undefined }
  | { kind: 'hold'; userId: string; reason: string }

export type ChangeCommand = CreateChange | UpdateConflicts | (ChangeStep & { now: Instant })
export type CommandOf<Kind extends ChangeStep['kind']> = Extract<ChangeStep, { kind: Kind }> & {
  now: Instant
}
