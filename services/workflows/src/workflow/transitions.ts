import {
  ApiError,
  invalidTransition,
  type WorkflowAction,
  type WorkflowState,
  type WorkflowStatus,
  workflowActions,
} from '@opsplane/contracts'

/** The fields of a workflow that decide which actions apply. */
export type WorkflowStanding = Pick<WorkflowState, 'status' | 'publishedVersion' | 'deactivatedReason'>

/** Target status of an action; `published` limits it to workflows that have a version. */
interface Transition {
  to: WorkflowStatus
  only?: 'published'
}

const live = (only?: 'published'): Partial<Record<WorkflowStatus, Transition>> => ({
  inactive: { to: 'inactive', ...(only && { only }) },
  active: { to: 'active', ...(only && { only }) },
})

/**
 * All changes of a workflow's status. `archived` is final; repeated actions, such as activating an active workflow,
 * change nothing.
 */
export const transitions: Record<WorkflowAction, Partial<Record<WorkflowStatus, Transition>>> = {
  update: live(),
  publish: live(),
  activate: {
    inactive: { to: 'active', only: 'published' },
    active: { to: 'active', only: 'published' },
  },
  deactivate: { inactive: { to: 'inactive' }, active: { to: 'inactive' } },
  rollback: live('published'),
  trigger: live('published'),
  archive: { inactive: { to: 'archived' }, active: { to: 'archived' } },
}

export function allowedActions(workflow: WorkflowStanding): WorkflowAction[] {
  return workflowActions.filter((action) => findTransition(action, workflow) !== undefined)
}

/** The status `action` leads to. Throws `invalid_state_transition` if the table has none. */
export function statusAfter(action: WorkflowAction, workflow: WorkflowStanding): WorkflowStatus {
  const transition = findTransition(action, workflow)
  if (transition) return transition.to
  if (isSuspended(workflow)) throw suspended(action, allowedActions(workflow))
  const from =
    workflow.status === 'archived' || workflow.publishedVersion !== null ? workflow.status : 'not published'
  throw invalidTransition(action, from, allowedActions(workflow))
}

/** Whether its owner has lost a right it needs, so that nothing starts until a user with the rights takes it over. */
export const isSuspended = ({
  status,
  deactivatedReason,
}: Omit<WorkflowStanding, 'publishedVersion'>): boolean =>
  status === 'inactive' && deactivatedReason === 'owner_rights'

function suspended(action: WorkflowAction, allowed: readonly WorkflowAction[]): ApiError {
  const message = `Cannot ${action}: the owner of the workflow no longer has the permissions it needs. A person with them takes it over with activate.`
  const params = { from: 'inactive', action, allowed }
  return new ApiError('invalid_state_transition', message, {
    details: [{ in: 'body', path: '', code: 'owner_rights', message, params }],
  })
}

function findTransition(action: WorkflowAction, workflow: WorkflowStanding): Transition | undefined {
  const { status, publishedVersion } = workflow
  if (action === 'trigger' && isSuspended(workflow)) return undefined
  const transition = transitions[action][status]
  return transition?.only === 'published' && publishedVersion === null ? undefined : transition
}
