import {
  type CatalogTaskAction,
  type CatalogTaskStatus,
  catalogTaskActions,
  invalidTransition,
} from '@opsplane/contracts'

type Targets = readonly [CatalogTaskStatus, ...CatalogTaskStatus[]]

/** The life of a task while its request is being fulfilled; a pending one opens when what it depends on is done. */
export const taskTransitions: Record<CatalogTaskAction, Partial<Record<CatalogTaskStatus, Targets>>> = {
  edit: { pending: ['pending'], open: ['open'], in_progress: ['in_progress'] },
  start: { open: ['in_progress'] },
  complete: { open: ['complete'], in_progress: ['complete'] },
  fail: { open: ['incomplete'], in_progress: ['incomplete'] },
  skip: { open: ['skipped'], in_progress: ['skipped'] },
}

export function allowedTaskActions(status: CatalogTaskStatus): CatalogTaskAction[] {
  return catalogTaskActions.filter((action) => taskTransitions[action][status] !== undefined)
}

/** The status `action` leads to. Throws invalid_state_transition where the table has none. */
export function taskStatusAfter(action: CatalogTaskAction, from: CatalogTaskStatus): CatalogTaskStatus {
  const targets = taskTransitions[action][from]
  if (targets === undefined) throw invalidTransition(`${action} a task`, from, allowedTaskActions(from))
  return targets[0]
}

export const taskHasEnded = ({ status }: { status: CatalogTaskStatus }): boolean =>
  status === 'complete' || status === 'incomplete' || status === 'skipped'
