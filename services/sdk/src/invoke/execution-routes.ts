import {
  CauseDepths,
  CauseDepthsQuestion,
  Execution,
  ExecutionsOfArtifactQuery,
  ExecutionsQuery,
  FailureGroup,
  RelatedExecutionsQuery,
  ReplayExecution,
} from '@opsplane/contracts'
import { defineList, defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { executionFailures } from '../execution/failures.js'
import {
  executionDepths,
  getExecution,
  type ListExecutionsOptions,
  listExecutions,
} from '../execution/queries.js'
import type { Invoker } from './invoker.js'
import type { ExecutionReplays } from './replays.js'
import { isCaller, type ReadResult } from './results.js'

const tag = 'Executions'
const base = '/origin/api/service-sdk'

const route = defineResource({
  name: 'Execution',
  path: '/origin/api/service-sdk/executions',
  tag,
  read: 'executions:read',
  write: 'sdk:invoke',
  response: Execution,
})

/** Routes of the execution log, below the origin itself. */
export function executionRoutes(
  { database, cursors }: ServiceContext,
  { load }: Pick<Invoker, 'load'>,
  { replay, cancel }: ExecutionReplays,
  readResult: ReadResult,
): Route[] {
  const { sql } = database
  const depthsOf = executionDepths(database)
  const list = (options: Omit<ListExecutionsOptions, 'cursors'>) =>
    listExecutions(sql, { ...options, cursors })
  return [
    route.list({
      summary: 'List executions of all artifacts',
      description:
        'Latest first. Multiple filters are combined with AND. A page with large executions can be shorter than ' +
        'requested: continue while there is a `nextCursor`.',
      sorts: [],
      query: ExecutionsQuery,
      handler: ({ query: { limit, after, ...filters }, binding, meta: { tenant } }) =>
        list({ tenant, filters, limit, after, binding }),
    }),

    defineList({
      operationId: 'listExecutionFailures',
      path: `${base}/executions/failures`,
      summary: 'List failed executions by artifact and cause',
      description:
        'Executions that were replayed successfully or are being replayed are not listed; an execution whose replay ' +
        'failed is counted by its last replay. The group with the latest failure comes first.',
      tag,
      scope: 'executions:read',
      sorts: [],
      response: FailureGroup,
      handler: ({ query: { limit, after }, binding, meta: { tenant } }) =>
        executionFailures(sql, { tenant, limit, after, binding, cursors }),
    }),

    route.get({
      summary: 'Get an execution',
      description:
        'Values of secrets, and fields with names of secrets, are shown as `***`. For 24 hours, the API key that ' +
        'invoked the execution receives `output` and `error` unmasked.',
      handler: async ({ params, meta: { tenant, principal } }) => {
        const stored = await getExecution(sql, params.id, tenant)
        return isCaller(stored, principal) ? (await readResult(stored)).execution : stored.shown
      },
    }),

    route.action('replay', {
      summary: 'Replay an execution',
      description:
        'Creates a new execution with the same version and input, unless others are specified; the original ' +
        'execution does not change. If parts of the original input are masked, the input must be specified.',
      body: ReplayExecution.default({ mode: 'sync' }),
      accepted: ({ status }) => status === 'running',
      waits: true,
      bodyLimitBytes: 5 * 1024 * 1024,
      errors: ['conflict'],
      handler: ({ params, body, meta }) => replay(params.id, body, meta),
    }),

    route.action('cancel', {
      summary: 'Cancel a running execution',
      description: 'External effects of the execution are not undone.',
      idempotency: 'claim',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => cancel(params.id, meta),
    }),

    defineRoute({
      operationId: 'getExecutionDepths',
      method: 'post',
      path: '/internal/executions/depths',
      tag: 'Internal',
      scope: 'service',
      callers: ['workflows'],
      idempotency: 'none',
      summary: 'Count the runs and executions that caused given executions',
      body: CauseDepthsQuestion,
      response: CauseDepths,
      handler: async ({ body: { ids } }) => ({
        depths: [...(await depthsOf(ids))].map(([id, depth]) => ({ id, depth })),
      }),
    }),

    defineList({
      operationId: 'listExecutionsOfArtifact',
      path: `${base}/artifacts/:id/executions`,
      summary: 'List executions of an artifact',
      description:
        'Lists the executions of an artifact by its id or slug, latest first. Multiple filters are combined with AND.',
      tag,
      scope: 'executions:read',
      sorts: [],
      query: ExecutionsOfArtifactQuery,
      response: Execution,
      handler: async ({ params, query: { limit, after, ...filters }, binding, meta: { tenant } }) => {
        const { id: artifactId } = await load(tenant, params.id)
        return list({ tenant, filters, artifactId, limit, after, binding })
      },
    }),

    defineList({
      operationId: 'listRelatedExecutions',
      path: `${base}/artifacts/:id/related-executions`,
      summary: 'List executions of an artifact related to a record',
      description: 'Lists the executions that the record triggered and those that touched the record.',
      tag,
      scope: 'executions:read',
      sorts: [],
      query: RelatedExecutionsQuery,
      response: Execution,
      handler: async ({ params, query: { limit, after, ...filters }, binding, meta: { tenant } }) => {
        const { id: artifactId } = await load(tenant, params.id)
        return list({ tenant, filters, artifactId, limit, after, binding })
      },
    }),
  ]
}
