import {
  type IncidentAction,
  type IncidentStatus,
  incidentActions,
  invalidTransition,
} from '@opsplane/contracts'

type Targets = readonly [IncidentStatus, ...IncidentStatus[]]

/**
 * The whole life of an incident: per action, the statuses it applies to and where each leads.
 * The first target is taken unless the caller asks for another. Closed and canceled are final.
 */
export const transitions: Record<IncidentAction, Partial<Record<IncidentStatus, Targets>>> = {
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

export function allowedActions(status: IncidentStatus): IncidentAction[] {
  return incidentActions.filter((action) => transitions[action][status] !== undefined)
}

/** The status `action` leads to from `from`. Throws invalid_state_transition where the table has none. */
export function statusAfter(
  action: IncidentAction,
  from: IncidentStatus,
  wanted?: IncidentStatus,
): IncidentStatus {
  const targets = transitions[action][from]
  if (targets === undefined) throw invalidTransition(action, from, allowedActions(from))
  return targets.find((target) => target === wanted) ?? targets[0]
}

/** The one action that takes `from` to `to`. Throws invalid_state_transition when no action does. */
export function actionTo(from: IncidentStatus, to: IncidentStatus): StatusAction {
  const action = statusActions.find((name) => transitions[name][from]?.includes(to))
  if (action === undefined) throw invalidTransition(`become ${to}`, from, allowedActions(from))
  return action
}
