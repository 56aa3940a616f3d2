import { type CatalogTaskAction, type CatalogTaskStatus, catalogTaskActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

/**
 * All transitions of a task while its request is being fulfilled. A pending task opens once its dependencies
 * are done.
 */
export const taskTransitions: TransitionTable<CatalogTaskAction, CatalogTaskStatus> = {
  edit: { pending: ['pending'], open: ['open'], in_progress: ['in_progress'] },
  start: { open: ['in_progress'] },
  complete: { open: ['complete'], in_progress: ['complete'] },
  fail: { open: ['incomplete'], in_progress: ['incomplete'] },
  skip: { open: ['skipped'], in_progress: ['skipped'] },
}

export const { allowedActions: allowedTaskActions, statusAfter: taskStatusAfter } = statusRules(
  catalogTaskActions,
  taskTransitions,
  (action) => `${action} a task`,
)

export const taskHasEnded = ({ status }: { status: CatalogTaskStatus }): boolean =>
  status === 'complete' || status === 'incomplete' || status === 'skipped'
