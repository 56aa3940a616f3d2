import { ApiError, ExecutionRetry, ExecutionRetryStarted, idSchema, RetryFailures } from '@opsplane/contracts'
import { computeRequestDepth, defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { failuresPosition, parseGroupId } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { toExecutionCaller } from '../invoke/invoker.js'
import type { ReplayCaller } from '../invoke/replays.js'
import {
  cancelExecutionRetry,
  getExecutionRetry,
  listExecutionRetries,
  requireArtifact,
  startExecutionRetry,
} from './retries.js'

const tag = 'Executions'
const base = '/origin/api/service-sdk/executions'
const retryId = idSchema('executionRetry')

/** `wake` is called where there is a new retry. */
export function executionRetryRoutes(
  { database, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  wake: () => void,
): Route[] {
  return [
    defineRoute({
      operationId: 'retryExecutionFailures',
      method: 'post',
      path: `${base}/failures/:groupId/retry`,
      summary: 'Retry a group of failed executions',
      description:
        'Replays those of the group that had failed when it was listed with this `to`, and have not been replayed since, as ' +
        '`POST /executions/:id/replay` does with the same version and input; some at a time, and by the rights of the caller, as ' +
        'far as they still have them then. What an execution has done outside before it failed is done again, as by any replay. ' +
        'With `dryRun` it only counts. `conflict` while the group is being retried.',
      tag,
      scope: 'sdk:invoke',
      body: RetryFailures,
      response: ExecutionRetryStarted,
      status: 202,
      errors: ['not_found', 'conflict', 'validation_failed'],
      idempotency: 'claim',
      handler: async ({ params: { groupId }, body: { to, dryRun }, meta }) => {
        const named = parseGroupId(groupId)
        const { tenant } = meta
        await requireArtifact(database.sql, named.targetId, tenant)
        const position = failuresPosition(cursors, { to, groupId, tenant })
        const started = await startExecutionRetry(
          database,
          { ...named, tenant, position },
          dryRun,
          callerOf(meta),
        )
        wake()
        return started
      },
    }),

    defineList({
      operationId: 'listExecutionRetries',
      path: `${base}/retries`,
      summary: 'List retries of groups of failed executions, newest first',
      description: '`after` is the id of a retry: older ones follow.',
      tag,
      scope: 'executions:read',
      sorts: [],
      response: ExecutionRetry,
      handler: ({ query: { limit, after }, meta: { tenant } }) => {
        if (after !== undefined && !retryId.safeParse(after).success)
          throw new ApiError('invalid_cursor', 'The cursor is not the id of a retry.')
        return listExecutionRetries(database, { tenant, limit, after })
      },
    }),

    defineRoute({
      operationId: 'getExecutionRetry',
      method: 'get',
      path: `${base}/retries/:id`,
      summary: 'Get a retry of a group of failed executions with its progress',
      description: 'With the number of executions that matched, and of those replayed so far.',
      tag,
      scope: 'executions:read',
      response: ExecutionRetry,
      errors: ['not_found'],
      handler: ({ params, meta }) => getExecutionRetry(database, params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'cancelExecutionRetry',
      method: 'post',
      path: `${base}/retries/:id/cancel`,
      summary: 'Cancel a retry of a group of failed executions',
      description:
        'No more executions are replayed, but for some it may be at; replays that were accepted go on.',
      tag,
      scope: 'sdk:invoke',
      response: ExecutionRetry,
      errors: ['not_found', 'invalid_state_transition'],
      idempotency: 'claim',
      handler: ({ params, meta }) => cancelExecutionRetry(database, params.id, meta),
    }),
  ]
}

const callerOf = (meta: RequestMeta): ReplayCaller => {
  const { tenant, now, requestId, principal } = meta
  return {
    ...{ tenant, now, requestId, userId: principal.userId },
    ...{ caller: toExecutionCaller(principal), depth: computeRequestDepth(meta) },
  }
}
