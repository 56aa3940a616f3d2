import {
  ApiError,
  CancelRun,
  JsonValue,
  PendingApproval,
  ResumeRun,
  RetryRun,
  Run,
  RunDetail,
  RunFilters,
  RunStep,
} from '@opsplane/contracts'
import { defineList, defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { RunActions } from './actions.js'
import { pendingApprovals } from './approvals.js'
import { runRetryWorkName } from './failures/retries.js'
import { runFailureRoutes } from './failures/routes.js'
import { findRun, listRuns, requireWorkflow } from './queries.js'
import type { Runs } from './runs.js'
import { readValue, runDetail, runSteps } from './trace.js'

const tag = 'Runs'
const transitionErrors = ['not_found', 'invalid_state_transition', 'version_conflict'] as const

/** Number of steps returned with a run. */
const firstSteps = 200

const route = defineResource({
  name: 'Run',
  path: '/runs',
  tag,
  read: 'runs:read',
  write: 'runs:manage',
  response: Run,
})

function stepsBefore(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw new ApiError('invalid_cursor', 'The cursor is not one of this list.')
}

export function runRoutes(
  { database, cursors, dueWork }: ServiceContext,
  runs: Runs,
  actions: RunActions,
): Route[] {
  const { sql } = database
  const list = (filters: RunFilters, page: Omit<Parameters<typeof listRuns>[1], 'filters' | 'cursors'>) =>
    listRuns(sql, { ...page, filters, cursors })
  return [
    route.list({
      summary: 'List runs',
      description: 'Returns the runs that match all filters, latest first.',
      query: RunFilters,
      sorts: [],
      handler: ({ query: { limit, after, ...filters }, binding, meta: { tenant } }) =>
        list(filters, { tenant, limit, after, binding }),
    }),

    defineList({
      operationId: 'listRunsOfWorkflow',
      path: '/workflows/:id/runs',
      summary: 'List the runs of a workflow',
      description: 'Returns the runs that match all filters, latest first.',
      tag,
      scope: 'runs:read',
      query: RunFilters.omit({ workflowId: true }),
      sorts: [],
      response: Run,
      handler: async ({ params, query: { limit, after, ...filters }, binding, meta: { tenant } }) => {
        await requireWorkflow(sql, params.id, tenant)
        return list({ ...filters, workflowId: params.id }, { tenant, limit, after, binding })
      },
    }),

    defineList({
      operationId: 'listApprovals',
      path: '/runs/approvals',
      summary: 'List runs waiting for my approval',
      description:
        'Lists runs that wait for an approval by the caller, who is named directly or by a role; latest first.',
      tag,
      scope: 'runs:read',
      sorts: [],
      response: PendingApproval,
      handler: ({ query: { limit, after }, binding, meta: { tenant, principal } }) =>
        pendingApprovals(sql, { tenant, principal, limit, after, binding, cursors }),
    }),

    ...runFailureRoutes({ database, cursors }, () => dueWork.wake(runRetryWorkName)),

    route.get({
      summary: 'Get a run',
      description:
        'Returns the run with the start of its trace: input, output, error, attempts and times of the first 200 ' +
        'steps, in the order they started; `GET /runs/:id/steps` returns all of them. Values of more than 8 KiB are ' +
        'returned as links.',
      response: RunDetail,
      handler: async ({ params, meta: { tenant } }) => {
        const { identity, shown } = await findRun(sql, params.id, tenant)
        const program = await runs.programOf(identity)
        return runDetail(sql, shown, { identity, program, page: { after: 0, limit: firstSteps } })
      },
    }),

    defineList({
      operationId: 'listRunSteps',
      path: '/runs/:id/steps',
      summary: 'List the steps of a run',
      description:
        'Returns the steps in the order they started. `after` is the `nextCursor` of the run or of the previous page.',
      tag,
      scope: 'runs:read',
      sorts: [],
      response: RunStep,
      errors: ['invalid_cursor'],
      handler: async ({ params, query: { limit, after = '0' }, meta: { tenant } }) => {
        const { identity } = await findRun(sql, params.id, tenant)
        const program = await runs.programOf(identity)
        return runSteps(sql, { identity, program, page: { after: stepsBefore(after), limit } })
      },
    }),

    defineRoute({
      operationId: 'getRunValue',
      method: 'get',
      path: '/runs/:id/values/:valueId',
      summary: 'Get a large value of a run',
      description: 'Returns a value that a run or one of its steps contains as a link.',
      tag,
      scope: 'runs:read',
      response: JsonValue,
      handler: async ({ params: { id: runId, valueId }, meta: { tenant } }) => {
        const [seq = '', field = ''] = valueId.split('.', 2)
        const number = /^\d{1,9}$/.test(seq) ? Number(seq) : -1
        return readValue(sql, { runId, seq: number, field, tenant })
      },
    }),

    route.action('cancel', {
      summary: 'Cancel a run',
      description:
        'The steps of the run are stopped, and runs it waits for are cancelled as well; an effect in flight may ' +
        'still occur. Emits `workflow.run_cancelled`.',
      body: CancelRun.default({}),
      errors: [...transitionErrors],
      idempotency: 'claim',
      handler: ({ params, body, meta }) => actions.cancel(params.id, body.reason ?? null, meta),
    }),

    route.action('retry', {
      summary: 'Retry a run',
      description:
        'Continues the run where it failed or was cancelled, or repeats a step and all steps that follow it; results ' +
        'of steps that succeeded before are kept, including approvals. A step that waited for a run continues with ' +
        'that run, which is retried or has completed. A step whose outcome is unknown (no answer, 408, 409, 425, ' +
        '429, 5xx) is repeated with its recorded input and its idempotency key, unless `newKey` is set. Uses the ' +
        'rights the run had; if these have ended, uses the rights of the caller, who must hold all permissions the ' +
        'run requires (403, `permission_not_held`). The same applies to runs with which its steps continue. A ' +
        'completed run cannot be retried: trigger the workflow again. Emits `workflow.run_retried`.',
      body: RetryRun.prefault({}),
      errors: [...transitionErrors, 'forbidden'],
      idempotency: 'claim',
      handler: ({ params, body, meta }) => actions.retry(params.id, body, meta),
    }),

    route.action('resume', {
      summary: 'Decide on an approval',
      description:
        'Accepts one decision from each person the step names or who has a role it names. A rejection fails the ' +
        'step, unless a branch or switch reads its output. A late decision is refused (409) with the reason. Emits ' +
        '`workflow.run_resumed` once no approval is pending.',
      scope: 'runs:read',
      body: ResumeRun,
      errors: [...transitionErrors, 'forbidden'],
      idempotency: 'claim',
      handler: ({ params, body, meta }) => actions.resume(params.id, body, meta),
    }),
  ]
}
