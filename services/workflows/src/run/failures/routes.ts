import {
  ApiError,
  FailureGroup,
  idSchema,
  RetryFailures,
  RunRetry,
  RunRetryStarted,
} from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { failuresPosition, parseGroupId } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { requireWorkflow } from '../queries.js'
import { runFailures } from './groups.js'
import { cancelRunRetry, getRunRetry, listRunRetries, startRunRetry } from './retries.js'

const tag = 'Runs'
const retryId = idSchema('runRetry')

/** `kick` is called where there is a new retry. */
export function runFailureRoutes(
  { database, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  kick: () => void,
): Route[] {
  const { sql } = database
  return [
    defineList({
      operationId: 'listRunFailures',
      path: '/runs/failures',
      summary: 'List failed runs by workflow and cause',
      description:
        'Runs with the status failed or dead: a retried one is not listed until it fails again. The group with the latest failure ' +
        'comes first.',
      tag,
      scope: 'runs:read',
      sorts: [],
      response: FailureGroup,
      handler: ({ query: { limit, after }, binding, meta: { tenant } }) =>
        runFailures(sql, { tenant, limit, after, binding, cursors }),
    }),

    defineRoute({
      operationId: 'retryRunFailures',
      method: 'post',
      path: '/runs/failures/:groupId/retry',
      summary: 'Retry a group of failed runs',
      description:
        'Retries the runs of the group that had failed when it was listed with this `to`, and were not retried since, like ' +
        '`POST /runs/:id/retry`, some at a time, with the rights they had. With `dryRun` it only counts. `conflict` while ' +
        'the group is being retried.',
      tag,
      scope: 'runs:manage',
      body: RetryFailures,
      response: RunRetryStarted,
      status: 202,
      errors: ['not_found', 'conflict', 'validation_failed'],
      idempotency: 'claim',
      handler: async ({ params: { groupId }, body: { to, dryRun }, meta }) => {
        const named = parseGroupId(groupId)
        await requireWorkflow(sql, named.targetId, meta.tenant)
        const endedBy = failuresPosition(cursors, { to, groupId, tenant: meta.tenant })
        const started = await startRunRetry(
          database,
          { ...named, tenant: meta.tenant, endedBy },
          dryRun,
          meta,
        )
        kick()
        return started
      },
    }),

    defineList({
      operationId: 'listRunRetries',
      path: '/runs/retries',
      summary: 'List retries of groups of failed runs, newest first',
      description: '`after` is the id of a retry: older ones follow.',
      tag,
      scope: 'runs:read',
      sorts: [],
      response: RunRetry,
      handler: ({ query: { limit, after }, meta: { tenant } }) => {
        if (after !== undefined && !retryId.safeParse(after).success)
          throw new ApiError('invalid_cursor', 'The cursor is not the id of a retry.')
        return listRunRetries(database, { tenant, limit, after })
      },
    }),

    defineRoute({
      operationId: 'getRunRetry',
      method: 'get',
      path: '/runs/retries/:id',
      summary: 'Get a retry of a group of failed runs with its progress',
      description: 'With the number of runs that matched, and of those retried so far.',
      tag,
      scope: 'runs:read',
      response: RunRetry,
      errors: ['not_found'],
      handler: ({ params, meta }) => getRunRetry(database, params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'cancelRunRetry',
      method: 'post',
      path: '/runs/retries/:id/cancel',
      summary: 'Cancel a retry of a group of failed runs',
      description: 'No more runs are retried, except those in progress. Runs already retried continue.',
      tag,
      scope: 'runs:manage',
      response: RunRetry,
      errors: ['not_found', 'invalid_state_transition'],
      idempotency: 'claim',
      handler: ({ params, meta }) => cancelRunRetry(database, params.id, meta),
    }),
  ]
}
