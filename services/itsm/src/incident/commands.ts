import type {
  Actor,
  EscalateIncident,
  HoldReason,
  IncidentCause,
  IncidentComment,
  IncidentPatch,
  IncidentState,
  IncidentStatus,
  Instant,
  NewIncident,
  ReopenIncident,
  ResolveIncident,
} from '@opsplane/contracts'
import type { CountChild } from './family.js'
import type { MajorCommand } from './major.js'

/** Opens an incident. `number` is the next of the workspace. */
export interface CreateIncident {
  kind: 'create'
  id: string
  number: string
  by: Actor
  now: Instant
  input: NewIncident
}

/** Changes fields, and the status through the action that leads to it. */
export interface PatchIncident {
  kind: 'patch'
  now: Instant
  patch: IncidentPatch
}

/** One action of the transition table. */
export type IncidentStep =
  | { kind: 'edit'; fields: Partial<IncidentState> }
  | { kind: 'assign'; assigneeId: string }
  | ({ kind: 'escalate' } & EscalateIncident)
  | { kind: 'comment'; comment: IncidentComment }
  | { kind: 'start' | 'resume' | 'close' | 'cancel' }
  | { kind: 'hold'; holdReason: HoldReason }
  | ({ kind: 'resolve' } & ResolveIncident)
  | ({ kind: 'reopen'; to?: IncidentStatus } & ReopenIncident)

/** `cause` is what the step follows from, where nobody takes it directly. */
export type IncidentCommand =
  | CreateIncident
  | PatchIncident
  | CountChild
  | MajorCommand
  | (IncidentStep & { now: Instant; cause?: IncidentCause })
