import {
  type ChangeAction,
  type ChangeStatus,
  type ChangeType,
  changeActions,
  invalidTransition,
} from '@opsplane/contracts'

type Targets = readonly [ChangeStatus, ...ChangeStatus[]]

/**
 * The whole life of a change: per action, the statuses it applies to and where each leads, by type where the types
 * differ. Of several targets the first is taken, unless: the last pending approval is given (approve), or what was
 * approved is altered (edit). Closed and canceled are final.
 */
export const transitions: Record<
  ChangeAction,
  Partial<Record<ChangeStatus, Targets | Partial<Record<ChangeType, Targets>>>>
> = {
  edit: {
    draft: ['draft'],
    assess: ['assess', 'draft'],
    authorize: ['authorize', 'draft'],
    scheduled: ['scheduled', 'draft'],
    implementing: ['implementing'],
    review: ['review'],
    rolled_back: ['rolled_back'],
  },
  submit: { draft: { standard: ['scheduled'], normal: ['assess'], emergency: ['authorize'] } },
  approve: {
    assess: { normal: ['assess', 'authorize'] },
    authorize: { normal: ['authorize', 'scheduled'], emergency: ['authorize', 'scheduled'] },
  },
  reject: { assess: { normal: ['draft'] }, authorize: { normal: ['draft'], emergency: ['draft'] } },
  implement: { scheduled: ['implementing'] },
  complete: { implementing: ['review'] },
  rollback: { implementing: ['rolled_back'], review: ['rolled_back'] },
  close: { review: ['closed'], rolled_back: ['closed'] },
  cancel: {
    draft: ['canceled'],
    assess: ['canceled'],
    authorize: ['canceled'],
    scheduled: ['canceled'],
    implementing: ['canceled'],
  },
  hold: {
    assess: ['assess'],
    authorize: ['authorize'],
    scheduled: ['scheduled'],
    implementing: ['implementing'],
  },
  resume: {
    assess: ['assess'],
    authorize: ['authorize'],
    scheduled: ['scheduled'],
    implementing: ['implementing'],
  },
}

/** Actions allowed on hold. Editing is then limited to fields that are not part of the approved content. */
const onHoldActions: readonly ChangeAction[] = ['edit', 'resume', 'cancel']

/** What of a change decides which actions apply. */
export interface ChangeTransitionState {
  status: ChangeStatus
  type: ChangeType
  onHold: boolean
}

export function allowedActions(standing: ChangeTransitionState): ChangeAction[] {
  return changeActions.filter((action) => findTargets(action, standing) !== undefined)
}

/** The status `action` leads to. Throws invalid_state_transition where the table has none. */
export function statusAfter(
  action: ChangeAction,
  standing: ChangeTransitionState,
  wanted?: ChangeStatus,
): ChangeStatus {
  const targets = findTargets(action, standing)
  if (targets === undefined) throw invalidChangeTransition(action, standing)
  return targets.find((target) => target === wanted) ?? targets[0]
}

export function invalidChangeTransition(action: string, standing: ChangeTransitionState) {
  const from = standing.onHold ? `${standing.status} and on hold` : standing.status
  return invalidTransition(action, from, allowedActions(standing))
}

function findTargets(
  action: ChangeAction,
  { status, type, onHold }: ChangeTransitionState,
): Targets | undefined {
  if (action === 'resume' ? !onHold : onHold && !onHoldActions.includes(action)) return undefined
  const entry = transitions[action][status]
  return entry === undefined || isTargets(entry) ? entry : entry[type]
}

function isTargets(entry: Targets | Partial<Record<ChangeType, Targets>>): entry is Targets {
  return Array.isArray(entry)
}
