import {
  type CatalogRequestState,
  type CatalogTaskState,
  changedFields,
  type FulfillmentOutcome,
  type Instant,
  notFound,
  type PlannedTask,
} from '@opsplane/contracts'
import type { TaskCommand } from './request-commands.js'
import type { RequestDecision } from './request-decision.js'
import { requestStatusAfter } from './request-transitions.js'
import { taskHasEnded, taskStatusAfter } from './task-transitions.js'

type Tasks = CatalogTaskState[]

/** Returns the request with its tasks started. A request without tasks is fulfilled manually. */
export function startTasks(
  plan: readonly PlannedTask[],
  ids: readonly string[],
  now: Instant,
  state: CatalogRequestState,
): CatalogRequestState {
  if (ids.length < plan.length) throw new Error('The command has too few ids for the tasks.')
  const tasks = plan.map(
    (task, index): CatalogTaskState => ({
      id: ids[index] ?? '',
      ...task,
      status: task.dependsOn.length === 0 ? 'open' : 'pending',
      notes: null,
      startedAt: null,
      endedAt: null,
    }),
  )
  return { ...state, status: 'fulfilling', tasks, updatedAt: now }
}

/** Performs one action on one task, updates the tasks that depend on it, and ends the request after its last task. */
export function workOnTask(
  { action, taskId, now, notes }: TaskCommand & { kind: 'work' },
  state: CatalogRequestState,
): RequestDecision[] {
  const task = findTask(taskId, state)
  const status = taskStatusAfter(action, task.status)
  const started = task.startedAt ?? (action === 'skip' ? null : now)
  const done: CatalogTaskState = { ...task, status, startedAt: started, notes: notes ?? task.notes }
  const next = { ...done, endedAt: taskHasEnded(done) ? now : null }
  const tasks = openUnblockedTasks(
    state.tasks.map((other) => (other === task ? next : other)),
    now,
  )
  const became = (newStatus: CatalogTaskState['status']) =>
    tasks
      .filter(
        ({ id, status }, index) =>
          id !== taskId && status === newStatus && state.tasks[index]?.status !== newStatus,
      )
      .map(({ id }) => id)
  const after = { ...state, status: requestStatusAfter('work', state), tasks, updatedAt: now }
  const extras = { taskId, action, openedTaskIds: became('open'), skippedTaskIds: became('skipped') }
  const reported: RequestDecision = { type: 'request.task_updated', after, extras }
  return tasks.every(taskHasEnded)
    ? [reported, fulfilledEvent(computeOutcome(tasks), 'work', now, after)]
    : [reported]
}

export function editTask(
  { taskId, now, patch }: TaskCommand & { kind: 'edit_task' },
  state: CatalogRequestState,
): RequestDecision[] {
  const task = findTask(taskId, state)
  taskStatusAfter('edit', task.status)
  const { assigneeId = task.assigneeId, assignmentGroup = task.assignmentGroup, notes = task.notes } = patch
  const edited = { ...task, assigneeId, assignmentGroup, notes }
  if (changedFields(task, edited).length === 0) return []
  const tasks = state.tasks.map((other) => (other === task ? edited : other))
  const after = { ...state, status: requestStatusAfter('work', state), tasks, updatedAt: now }
  const extras = { taskId, action: 'edit', openedTaskIds: [], skippedTaskIds: [] }
  return [{ type: 'request.task_updated', after, extras }]
}

/** The event that ends the work: after the last task, or manually if there are no tasks. */
export function fulfilledEvent(
  outcome: FulfillmentOutcome,
  action: 'work' | 'fulfill',
  now: Instant,
  state: CatalogRequestState,
): RequestDecision {
  const status = requestStatusAfter(action, state, `closed_${outcome}`)
  return {
    type: 'request.fulfilled',
    after: { ...state, status, closedAt: now, updatedAt: now },
    extras: { outcome },
  }
}

function computeOutcome(tasks: Tasks): FulfillmentOutcome {
  if (tasks.some(({ status }) => status === 'incomplete')) return 'incomplete'
  return tasks.every(({ status }) => status === 'skipped') ? 'skipped' : 'complete'
}

/** Throws not_found if there is no such task, and invalid_state_transition if the request is not being fulfilled. */
function findTask(taskId: string, state: CatalogRequestState): CatalogTaskState {
  const task = state.tasks.find(({ id }) => id === taskId)
  if (!task) throw notFound()
  requestStatusAfter('work', state)
  return task
}

/**
 * Opens the tasks that no longer wait for another one. Tasks that depend on a failed task, directly or indirectly, are
 * skipped. A task skipped by a person was not needed and blocks nothing.
 */
function openUnblockedTasks(tasks: Tasks, now: Instant): Tasks {
  const lost = new Set(tasks.filter(({ status }) => status === 'incomplete').map(({ key }) => key))
  for (let before = -1; before < lost.size; ) {
    before = lost.size
    for (const { key, dependsOn } of tasks) if (dependsOn.some((needed) => lost.has(needed))) lost.add(key)
  }
  const endedTaskKeys = new Set(tasks.filter(taskHasEnded).map(({ key }) => key))
  return tasks.map((task) => {
    if (task.status !== 'pending') return task
    if (lost.has(task.key)) return { ...task, status: 'skipped', endedAt: now }
    return task.dependsOn.every((key) => endedTaskKeys.has(key)) ? { ...task, status: 'open' } : task
  })
}
