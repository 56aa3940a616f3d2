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
        'Counts for every approval the caller may decide on; neither who asked nor who gets it may. Emits ' +
        '`request.updated` while others are missing; with the last one `request.approved`, and `request.updated` ' +
        'as its tasks begin.',
      scope: 'itsm:approve',
      body: ApproveCatalogRequest,
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      handler: ({ params, body, meta }) => requests.approve(params.id, body.comment ?? null, meta),
    }),
    route.action('reject', {
      summary: 'Reject a request',
      description: 'Final; one rejection is enough. Emits `request.rejected`.',
      scope: 'itsm:approve',
      body: RejectCatalogRequest,
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      handler: ({ params, body, meta }) =>
        requests.execute(params.id, { kind: 'reject', by: toActingUser(meta), now: meta.now, ...body }, meta),
    }),
    route.action('cancel', {
      summary: 'Cancel a request',
      description:
        'By who asked for it, who gets it, or with `catalog:write`, until it is fulfilled. Approvals are void and ' +
        'tasks that have not ended are skipped. Emits `request.canceled`.',
      body: CancelCatalogRequest,
      errors: ['invalid_state_transition', 'forbidden'],
      handler: ({ params, body, meta }) =>
        requests.execute(params.id, { kind: 'cancel', now: meta.now, ...body }, meta, checkMayCancel),
    }),
    route.action('fulfill', {
      errors: ['invalid_state_transition'],
      summary: 'End a request that has no tasks',
      description: 'A request with tasks ends with the last one. Emits `request.fulfilled`.',
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
      summary: 'Assign a task, or note something on it',
      description: 'Emits `request.task_updated`; what changes nothing emits nothing.',
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
  { action: 'start', summary: 'Start a task', description: 'Only an open one.' },
  { action: 'complete', summary: 'Complete a task', description: 'Opens what waited for it alone.' },
  {
    action: 'fail',
    summary: 'Give up a task',
    description: 'It is incomplete, and what depends on it, also by way of other tasks, is skipped.',
  },
  {
    action: 'skip',
    summary: 'Skip a task',
    description: 'It was not needed; what depends on it goes on as if it were complete.',
  },
] as const
