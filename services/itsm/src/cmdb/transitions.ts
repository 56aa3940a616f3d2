import { type CiAction, type CiStatus, ciActions, invalidTransition } from '@opsplane/contracts'

/** The whole life of an item: per action, the statuses it applies to and where each leads. Retired is final. */
export const transitions: Record<CiAction, Partial<Record<CiStatus, CiStatus>>> = {
  edit: {
    planned: 'planned',
    operational: 'operational',
    non_operational: 'non_operational',
    repair_in_progress: 'repair_in_progress',
  },
  relate: {
    planned: 'planned',
    operational: 'operational',
    non_operational: 'non_operational',
    repair_in_progress: 'repair_in_progress',
  },
  activate: { planned: 'operational', non_operational: 'operational', repair_in_progress: 'operational' },
  fail: { operational: 'non_operational', repair_in_progress: 'non_operational' },
  repair: { operational: 'repair_in_progress', non_operational: 'repair_in_progress' },
  retire: {
    planned: 'retired',
    operational: 'retired',
    non_operational: 'retired',
    repair_in_progress: 'retired',
  },
  delete: { planned: 'planned' },
}

/** The actions that exist to change the status. */
export const statusActions = ['activate', 'fail', 'repair', 'retire'] as const
export type CiStatusAction = (typeof statusActions)[number]

export function allowedActions(status: CiStatus): CiAction[] {
  return ciActions.filter((action) => transitions[action][status] !== undefined)
}

/** The status `action` leads to from `from`. Throws invalid_state_transition where the table has none. */
export function statusAfter(action: CiAction, from: CiStatus): CiStatus {
  const to = transitions[action][from]
  if (to === undefined) throw invalidTransition(action, from, allowedActions(from))
  return to
}

/** The one action that takes `from` to `to`. Throws invalid_state_transition when no action does. */
export function actionTo(from: CiStatus, to: CiStatus): CiStatusAction {
  const action = statusActions.find((name) => transitions[name][from] === to)
  if (action === undefined) throw invalidTransition(`become ${to}`, from, allowedActions(from))
  return action
}
