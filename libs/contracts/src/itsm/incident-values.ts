import { z } from 'zod'

export const incidentStatuses = ['open', 'in_progress', 'on_hold', 'resolved', 'closed', 'canceled'] as const
export const IncidentStatus = z.enum(incidentStatuses).meta({ id: 'IncidentStatus' })
export type IncidentStatus = z.infer<typeof IncidentStatus>

/** In descending order of severity. */
export const severities = ['critical', 'high', 'medium', 'low'] as const
export const Severity = z.enum(severities).meta({ id: 'Severity' })
export type Severity = z.infer<typeof Severity>

// No component id, like ResolutionCode: OpenAPI components of nullable enums become nullable everywhere.
export const HoldReason = z.enum([
  'awaiting_caller',
  'awaiting_change',
  'awaiting_problem',
  'awaiting_vendor',
])
export type HoldReason = z.infer<typeof HoldReason>

export const ResolutionCode = z.enum([
  'fixed',
  'workaround',
  'duplicate',
  'not_reproducible',
  'user_error',
  'no_fault_found',
  'other',
])
export type ResolutionCode = z.infer<typeof ResolutionCode>

/** Channel an incident was reported through. */
export const IncidentChannel = z.enum(['portal', 'email', 'phone', 'chat', 'walk_in', 'monitoring', 'api'])
export type IncidentChannel = z.infer<typeof IncidentChannel>

/** Status of a major incident: proposed, then accepted or rejected; an accepted one can be demoted. */
export const MajorState = z.enum(['none', 'proposed', 'accepted', 'rejected', 'demoted'])
export type MajorState = z.infer<typeof MajorState>

/** Decisions about whether an incident is a major one; its major state determines which of them apply. */
export const majorActions = ['propose', 'accept', 'reject', 'demote'] as const
export const MajorAction = z.enum(majorActions).meta({ id: 'MajorAction' })
export type MajorAction = z.infer<typeof MajorAction>

/** All actions on an incident; its status determines which of them apply. */
export const incidentActions = [
  'edit',
  'assign',
  'escalate',
  'comment',
  'start',
  'hold',
  'resume',
  'resolve',
  'reopen',
  'close',
  'cancel',
] as const
export const IncidentAction = z.enum(incidentActions).meta({ id: 'IncidentAction' })
export type IncidentAction = z.infer<typeof IncidentAction>
