import { type ChangeAction, type ChangeStatus, type ChangeType, changeActions } from '@opsplane/contracts'
import { type Targets as TargetsOf, transitionRules } from '../transition-rules.js'

type Targets = TargetsOf<ChangeStatus>

/**
 * All transitions of a change: per action, the statuses it applies to and the resulting statuses, by type where types
 * differ. The first of several targets is used, except after the last pending approval (approve) or when approved
 * content is altered (edit). Closed and canceled are final.
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

/** The fields of a change that decide which actions are allowed. */
export interface ChangeTransitionState {
  status: ChangeStatus
  type: ChangeType
  onHold: boolean
}

export const { allowedActions, statusAfter } = transitionRules<
  ChangeAction,
  ChangeStatus,
  ChangeTransitionState
>({
  actions: changeActions,
  targets: findTargets,
  describe: ({ status, onHold }) => (onHold ? `${status} and on hold` : status),
})

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
