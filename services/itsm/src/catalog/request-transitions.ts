import {
  type CatalogRequestAction,
  type CatalogRequestStatus,
  catalogRequestActions,
} from '@opsplane/contracts'
import { type Targets as TargetsOf, type TransitionTable, transitionRules } from '../transition-rules.js'

type Targets = TargetsOf<CatalogRequestStatus>

const ends = ['closed_complete', 'closed_incomplete', 'closed_skipped'] as const

/** What people do to a request. Closed, rejected and canceled are final. */
export const requestTransitions: TransitionTable<CatalogRequestAction, CatalogRequestStatus> = {
  edit: { draft: ['draft'] },
  submit: { draft: ['submitted'] },
  approve: { awaiting_approval: ['awaiting_approval', 'approved'] },
  reject: { awaiting_approval: ['rejected'] },
  work: { fulfilling: ['fulfilling', ...ends] },
  fulfill: { fulfilling: ends },
  cancel: { draft: ['canceled'], awaiting_approval: ['canceled'], fulfilling: ['canceled'] },
}

/** Where a request goes by itself, in the transaction that brought it there. */
export const automaticTransitions: Partial<Record<CatalogRequestStatus, Targets>> = {
  submitted: ['awaiting_approval', 'fulfilling'],
  approved: ['fulfilling'],
}

/** What of a request decides which actions apply. */
export interface RequestTransitionState {
  status: CatalogRequestStatus
  tasks: readonly unknown[]
}

export const { allowedActions: allowedRequestActions, statusAfter: requestStatusAfter } = transitionRules<
  CatalogRequestAction,
  CatalogRequestStatus,
  RequestTransitionState
>({ actions: catalogRequestActions, targets: findTargets, describe: ({ status }) => status })

/** A request with tasks ends with them; one without is ended by hand. */
function findTargets(
  action: CatalogRequestAction,
  { status, tasks }: RequestTransitionState,
): Targets | undefined {
  const hasTasks = tasks.length > 0
  if ((action === 'work' && !hasTasks) || (action === 'fulfill' && hasTasks)) return undefined
  return requestTransitions[action][status]
}
