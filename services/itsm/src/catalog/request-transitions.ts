import {
  type CatalogRequestAction,
  type CatalogRequestStatus,
  catalogRequestActions,
} from '@opsplane/contracts'
import { type Targets as TargetsOf, type TransitionTable, transitionRules } from '../transition-rules.js'

type Targets = TargetsOf<CatalogRequestStatus>

const ends = ['closed_complete', 'closed_incomplete', 'closed_skipped'] as const

/** Actions of people on a request. Closed, rejected and canceled are final. */
export const requestTransitions: TransitionTable<CatalogRequestAction, CatalogRequestStatus> = {
  edit: { draft: ['draft'] },
  submit: { draft: ['submitted'] },
  approve: { awaiting_approval: ['awaiting_approval', 'approved'] },
  reject: { awaiting_approval: ['rejected'] },
  work: { fulfilling: ['fulfilling', ...ends] },
  fulfill: { fulfilling: ends },
  cancel: { draft: ['canceled'], awaiting_approval: ['canceled'], fulfilling: ['canceled'] },
}

/** Automatic transitions, performed in the same transaction as the action that leads to the status. */
export const automaticTransitions: Partial<Record<CatalogRequestStatus, Targets>> = {
  submitted: ['awaiting_approval', 'fulfilling'],
  approved: ['fulfilling'],
}

/** The fields of a request that decide which actions are allowed. */
export interface RequestTransitionState {
  status: CatalogRequestStatus
  tasks: readonly unknown[]
}

export const { allowedActions: allowedRequestActions, statusAfter: requestStatusAfter } = transitionRules<
  CatalogRequestAction,
  CatalogRequestStatus,
  RequestTransitionState
>({ actions: catalogRequestActions, targets: findTargets, describe: ({ status }) => status })

/** A request with tasks ends with its last task; one without tasks is ended by a person. */
function findTargets(
  action: CatalogRequestAction,
  { status, tasks }: RequestTransitionState,
): Targets | undefined {
  const hasTasks = tasks.length > 0
  if ((action === 'work' && !hasTasks) || (action === 'fulfill' && hasTasks)) return undefined
  return requestTransitions[action][status]
}
