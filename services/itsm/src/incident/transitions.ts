import { type IncidentAction, type IncidentStatus, incidentActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

/**
 * All transitions of an incident: per action, the statuses it applies to and the resulting ones. The first target is
 * used unless the caller requests another. Closed and canceled are final.
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

/** The actions whose purpose is to change the status. Other actions may change it as a side effect. */
const statusActions = ['start', 'hold', 'resume', 'resolve', 'reopen', 'close', 'cancel'] as const
export type StatusAction = (typeof statusActions)[number]

const rules = statusRules(incidentActions, transitions)
export const { allowedActions, statusAfter } = rules

/** Returns the only action that leads from `from` to `to`. Throws invalid_state_transition if there is none. */
export const actionTo = (from: IncidentStatus, to: IncidentStatus): StatusAction =>
  rules.actionTo(from, to, statusActions)
