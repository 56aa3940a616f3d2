import {
  type CatalogRequestAction,
  type CatalogRequestStatus,
  catalogRequestActions,
  invalidTransition,
} from '@opsplane/contracts'

type Targets = readonly [CatalogRequestStatus, ...CatalogRequestStatus[]]
type Table<Action extends string> = Record<Action, Partial<Record<CatalogRequestStatus, Targets>>>

const ends = ['closed_complete', 'closed_incomplete', 'closed_skipped'] as const

/** What people do to a request. Closed, rejected and canceled are final. */
export const requestTransitions: Table<CatalogRequestAction> = {
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

export function allowedRequestActions(standing: RequestTransitionState): CatalogRequestAction[] {
  return catalogRequestActions.filter((action) => findTargets(action, standing) !== undefined)
}

/** The status `action` leads to, the one wanted where there are several. Throws invalid_state_transition. */
export function requestStatusAfter(
  action: CatalogRequestAction,
  from: RequestTransitionState,
  wanted?: CatalogRequestStatus,
): CatalogRequestStatus {
  const targets = findTargets(action, from)
  if (targets === undefined) throw invalidTransition(action, from.status, allowedRequestActions(from))
  return targets.find((target) => target === wanted) ?? targets[0]
}

/** A request with tasks ends with them; one without is ended by hand. */
function findTargets(
  action: CatalogRequestAction,
  { status, tasks }: RequestTransitionState,
): Targets | undefined {
  const hasTasks = tasks.length > 0
  if ((action === 'work' && !hasTasks) || (action === 'fulfill' && hasTasks)) return undefined
  return requestTransitions[action][status]
}
