import {
  ApproveCatalogRequest,
  CancelCatalogRequest,
  CatalogRequest,
  CatalogTaskNote,
  CatalogTaskPatch,
  FulfillCatalogRequest,
  RejectCatalogRequest,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { checkMayCancel } from './access.js'
import { tag } from './item-routes.js'
import { route } from './request-routes.js'
import { type RequestStore, toActingUser } from './request-store.js'

const contract = {
  method: 'post',
  tag,
  response: CatalogRequest,
  errors: ['invalid_state_transition'],
} as const

/** Routes that decide on requests, end them, and work on their tasks. */
export function requestActionRoutes(requests: RequestStore): Route[] {
  return [
    route.action('approve', {
      summary: 'Approve a request',
      description:
        'Records the decision for every pending approval the caller may decide on; neither the requester nor the ' +
        'recipient may approve. Emits `request.updated` while other approvals are pending; the last approval emits ' +
        '`request.approved`, and `request.updated` as the tasks of the request begin.',
      scope: 'itsm:approve',
      body: ApproveCatalogRequest,
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      handler: ({ params, body, meta }) => requests.approve(params.id, body.comment ?? null, meta),
    }),
    route.action('reject', {
      summary: 'Reject a request',
      description: 'Rejection is final; a single rejection suffices. Emits `request.rejected`.',
      scope: 'itsm:approve',
      body: RejectCatalogRequest,
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      handler: ({ params, body, meta }) =>
        requests.execute(params.id, { kind: 'reject', by: toActingUser(meta), now: meta.now, ...body }, meta),
    }),
    route.action('cancel', {
      summary: 'Cancel a request',
      description:
        'Allowed for the requester, the recipient and callers with `catalog:write`, until the request is fulfilled. ' +
        'Voids the approvals and skips tasks that have not ended. Emits `request.canceled`.',
      body: CancelCatalogRequest,
      errors: ['invalid_state_transition', 'forbidden'],
      handler: ({ params, body, meta }) =>
        requests.execute(params.id, { kind: 'cancel', now: meta.now, ...body }, meta, checkMayCancel),
    }),
    route.action('fulfill', {
      errors: ['invalid_state_transition'],
      summary: 'Fulfill a request without tasks',
      description: 'A request with tasks is fulfilled by its last task instead. Emits `request.fulfilled`.',
      scope: 'catalog:write',
      body: FulfillCatalogRequest,
      handler: ({ params, body, meta }) =>
        requests.execute(params.id, { kind: 'fulfill', now: meta.now, ...body }, meta),
    }),
    defineRoute({
      ...contract,
      method: 'patch',
      operationId: 'updateCatalogTask',
      path: '/catalog/requests/:id/tasks/:taskId',
      summary: 'Update a task',
      description:
        'Changes the assignee, team or notes of the task. Emits `request.task_updated`; an update without changes ' +
        'emits no event.',
      scope: 'catalog:write',
      body: CatalogTaskPatch,
      handler: ({ params: { id, taskId }, body, meta }) => requests.editTask(id, taskId, body, meta),
    }),
    ...taskActions.map(({ action, summary, description }) =>
      defineRoute({
        ...contract,
        operationId: `${action}CatalogTask`,
        path: `/catalog/requests/:id/tasks/:taskId/${action}`,
        summary,
        description: `${description} Emits \`request.task_updated\`, and \`request.fulfilled\` with the last task.`,
        scope: 'catalog:write',
        body: CatalogTaskNote,
        handler: ({ params: { id, taskId }, body, meta }) =>
          requests.execute(id, { kind: 'work', action, taskId, now: meta.now, ...body }, meta),
      }),
    ),
  ]
}

const taskActions = [
  { action: 'start', summary: 'Start a task', description: 'Starts a task that is open.' },
  {
    action: 'complete',
    summary: 'Complete a task',
    description: 'Opens tasks that were waiting only for this task.',
  },
  {
    action: 'fail',
    summary: 'Mark a task as incomplete',
    description:
      'Ends the task as incomplete, and skips every task that depends on it, directly or through other tasks.',
  },
  {
    action: 'skip',
    summary: 'Skip a task',
    description: 'Marks the task as not needed; tasks that depend on it continue as if it were complete.',
  },
] as const
