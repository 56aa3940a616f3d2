import { ApiError, idSchema, type Permission, RetryFailures, type TenantScope } from '@opsplane/contracts'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import {
  failuresPosition,
  type GroupRetries,
  type GroupRetryKind,
  parseGroupId,
  type StartedRetry,
} from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { z } from 'zod'

interface GroupRetryRoutes<Job> {
  kind: GroupRetryKind<Job>
  retries: GroupRetries<Job>
  cursors: CursorCodec
  started: z.ZodType<StartedRetry<Job>>
  tag: string
  /** Path of the items: `/failures/:groupId/retry` and `/retries` follow it. */
  base: string
  scopes: { read: Permission; write: Permission }
  /** Name of an item in texts and operation ids, such as `run`, and the participle for a retried one. */
  noun: 'run' | 'execution'
  done: 'retried' | 'replayed'
  descriptions: { retry: string; cancel: string }
  /** Throws `not_found`. */
  requireTarget(id: string, tenant: TenantScope): Promise<unknown>
  /** Additional columns of the job's row. */
  describeRequest(meta: RequestMeta): Record<string, unknown>
  /** Called after a job was created. */
  wake(): void
}

/** Routes to retry a group of failures, and to list, read and cancel the retry jobs. */
export function groupRetryRoutes<Job>(options: GroupRetryRoutes<Job>): Route[] {
  const { kind, retries, cursors, tag, base, scopes, noun, done, descriptions } = options
  const retryId = idSchema(kind.idKind)
  const name = noun === 'run' ? 'Run' : 'Execution'
  return [
    defineRoute({
      operationId: `retry${name}Failures`,
      method: 'post',
      path: `${base}/failures/:groupId/retry`,
      summary: `Retry a group of failed ${noun}s`,
      description: descriptions.retry,
      tag,
      scope: scopes.write,
      body: RetryFailures,
      response: options.started,
      status: 202,
      errors: ['not_found', 'conflict', 'validation_failed'],
      idempotency: 'claim',
      handler: async ({ params: { groupId }, body: { to, dryRun }, meta }) => {
        const group = parseGroupId(groupId)
        const { tenant, requestId, now } = meta
        await options.requireTarget(group.targetId, tenant)
        const position = failuresPosition(cursors, { to, groupId, tenant })
        const more = options.describeRequest(meta)
        const started = await retries.start({ ...group, tenant, position }, dryRun, { requestId, now, more })
        options.wake()
        return started
      },
    }),

    defineList({
      operationId: `list${name}Retries`,
      path: `${base}/retries`,
      summary: `List retries of groups of failed ${noun}s, newest first`,
      description: '`after` is the id of a retry; the page continues with older ones.',
      tag,
      scope: scopes.read,
      sorts: [],
      response: kind.job,
      handler: ({ query: { limit, after }, meta: { tenant } }) => {
        if (after !== undefined && !retryId.safeParse(after).success)
          throw new ApiError('invalid_cursor', 'The cursor is not the id of a retry.')
        return retries.list({ tenant, limit, after })
      },
    }),

    defineRoute({
      operationId: `get${name}Retry`,
      method: 'get',
      path: `${base}/retries/:id`,
      summary: `Get a retry of a group of failed ${noun}s`,
      description: `Includes the progress: the number of ${noun}s that matched, and the number ${done} so far.`,
      tag,
      scope: scopes.read,
      response: kind.job,
      errors: ['not_found'],
      handler: ({ params, meta }) => retries.get(params.id, meta.tenant),
    }),

    defineRoute({
      operationId: `cancel${name}Retry`,
      method: 'post',
      path: `${base}/retries/:id/cancel`,
      summary: `Cancel a retry of a group of failed ${noun}s`,
      description: descriptions.cancel,
      tag,
      scope: scopes.write,
      response: kind.job,
      errors: ['not_found', 'invalid_state_transition'],
      idempotency: 'claim',
      handler: ({ params, meta }) => retries.cancel(params.id, meta),
    }),
  ]
}
