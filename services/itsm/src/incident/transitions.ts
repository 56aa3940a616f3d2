import { type IncidentAction, type IncidentStatus, incidentActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

/**
 * The whole life of an incident: per action, the statuses it applies to and where each leads.
 * The first target is taken unless the caller asks for another. Closed and canceled are final.
 */
export const transitions: TransitionTable<IncidentAction, IncidentStatus> = {
  edit: { open: ['open'], in_progress: ['in_progress'], on_hold: ['on_hold'], resolved: ['resolved'] },
  assign: { open: ['in_progress'], in_progress: ['in_progress'], on_hold: ['on_hold'] },
  escalate: { open: ['open'], in_progress: ['in_progress'], on_hold: ['on_hold'] },
  comment: { open: ['open'], in_progress: ['in_progress'], on_hold: ['on_hold'], resolved: ['resolved'] },
  start: { open: ['in_progress'] },
  hold: { open: ['on_hold'], in_progress: ['on_hold'] },
  resume: { on_hold: ['in_progress'] },
  resolve: { open: ['resolved'], in_progress: ['resolved'], on_hold: ['resolved'] },
  reopen: { resolved: ['in_progress', 'open'] },
  close: { resolved: ['closed'] },
  cancel: { open: ['canceled'], in_progress: ['canceled'], on_hold: ['canceled'] },
}

/** The actions that exist to change the status; the others may do so only in passing. */
const statusActions = ['start', 'hold', 'resume', 'resolve', 'reopen', 'close', 'cancel'] as const
export type StatusAction = (typeof statusActions)[number]

const rules = statusRules(incidentActions, transitions)
export const { allowedActions, statusAfter } = rules

/** The one action that takes `from` to `to`. Throws invalid_state_transition when no action does. */
export const actionTo = (from: IncidentStatus, to: IncidentStatus): StatusAction =>
  rules.actionTo(from, to, statusActions)
