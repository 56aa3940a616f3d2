import type {
  EscalateIncident,
  HoldReason,
  IncidentComment,
  IncidentState,
  IncidentStatus,
  PriorityMatrix,
  ReopenIncident,
  ResolveIncident,
} from '@opsplane/contracts'

/** One action of the transition table. */
export type IncidentStep =
  | { kind: 'edit'; fields: Partial<IncidentState> }
  | { kind: 'assign'; assigneeId: string }
  /** If the priority matrix of the settings is given, a higher severity also raises the priority. */
  | ({ kind: 'escalate'; priorityMatrix?: PriorityMatrix | undefined } & EscalateIncident)
  /** `keepResolved` adds the comment without reopening the incident. */
  | { kind: 'comment'; comment: IncidentComment; keepResolved?: boolean }
  | { kind: 'start' | 'resume' | 'close' | 'cancel' }
  | { kind: 'hold'; holdReason: HoldReason }
  | ({ kind: 'resolve'; resolutionRequired?: boolean } & ResolveIncident)
  | ({ kind: 'reopen'; to?: IncidentStatus } & ReopenIncident)
