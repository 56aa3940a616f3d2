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

/** Drafts a change. `number` is the next number of the workspace. */
export interface CreateChange {
  kind: 'create'
  id: string
  number: string
  by: Actor
  /** Id of the acting person. For an API key, its owner. */
  userId: string
  now: Instant
  input: NewChange
  facts: RiskFacts
  /** Given for a standard change. */
  agreed?: TemplateAgreement | undefined
}

/** Submits a draft. `policies` are the active ones in order; `approvalIds` are the ids for the requested approvals. */
export interface SubmitChange {
  kind: 'submit'
  userId: string
  facts: RiskFacts
  policies: readonly ChangePolicyState[]
  approvalIds: readonly string[]
  /** From the workspace settings. Duties are separated unless this is false. */
  separationOfDuties?: boolean
  /** Given for a standard change. */
  agreed?: TemplateAgreement | undefined
  clash?: Clash
}

/** A person's decision on all pending approvals they may decide on, or on one of them. */
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
      /** Given if the change is, or becomes, a standard change. */
      agreed?: TemplateAgreement | undefined
      /** Given if the patch affects the conflicts. */
      conflicts?: ChangeConflict[]
    }
  | SubmitChange
  | (DecideOnChange & {
      kind: 'approve'
      comment?: string | undefined
      /** Ids for the approvals requested next. */
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
