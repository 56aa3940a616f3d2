import { type CiAction, type CiStatus, ciActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

/** All transitions of an item: per action, the statuses it applies to and the resulting one. Retired is final. */
export const transitions: TransitionTable<CiAction, CiStatus> = {
  edit: {
    planned: ['planned'],
    operational: ['operational'],
    non_operational: ['non_operational'],
    repair_in_progress: ['repair_in_progress'],
  },
  relate: {
    planned: ['planned'],
    operational: ['operational'],
    non_operational: ['non_operational'],
    repair_in_progress: ['repair_in_progress'],
  },
  activate: {
    planned: ['operational'],
    non_operational: ['operational'],
    repair_in_progress: ['operational'],
  },
  fail: { operational: ['non_operational'], repair_in_progress: ['non_operational'] },
  repair: { operational: ['repair_in_progress'], non_operational: ['repair_in_progress'] },
  retire: {
    planned: ['retired'],
    operational: ['retired'],
    non_operational: ['retired'],
    repair_in_progress: ['retired'],
  },
  delete: { planned: ['planned'] },
}

/** The actions whose purpose is to change the status. */
export const statusActions = ['activate', 'fail', 'repair', 'retire'] as const
export type CiStatusAction = (typeof statusActions)[number]

const rules = statusRules(ciActions, transitions)
export const { allowedActions, statusAfter } = rules

/** Returns the only action that leads from `from` to `to`. Throws invalid_state_transition if there is none. */
export const actionTo = (from: CiStatus, to: CiStatus): CiStatusAction =>
  rules.actionTo(from, to, statusActions)
