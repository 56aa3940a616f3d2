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
        'The latest first; all given filters must hold. A page ends early where its executions are large: go on while ' +
        'there is a `nextCursor`.',
      sorts: [],
      query: ExecutionsQuery,
      handler: ({ query: { limit, after, ...filters }, binding, meta: { tenant } }) =>
        list({ tenant, filters, limit, after, binding }),
    }),

    defineList({
      operationId: 'listExecutionFailures',
      path: `${base}/executions/failures`,
      summary: 'List what is failed now, by artifact and cause',
      description:
        'What was replayed with success, or is being replayed, is not listed; an execution that was replayed in vain counts ' +
        'by its last replay. The group that failed last comes first.',
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
        'As it is kept for people: values of secrets, and fields named as secrets are, are `***`. The API key that invoked ' +
        'it gets `output` and `error` as they are for 24 hours.',
      handler: async ({ params, meta: { tenant, principal } }) => {
        const stored = await getExecution(sql, params.id, tenant)
        return isCaller(stored, principal) ? (await readResult(stored)).execution : stored.shown
      },
    }),

    route.action('replay', {
      summary: 'Replay an execution',
      description:
        'With the same version and input unless others are given, as an execution of its own: the original stays as it is. ' +
        'Where parts of the original input are masked it has to be given.',
      body: ReplayExecution.default({ mode: 'sync' }),
      accepted: ({ status }) => status === 'running',
      waits: true,
      bodyLimitBytes: 5 * 1024 * 1024,
      errors: ['conflict'],
      handler: ({ params, body, meta }) => replay(params.id, body, meta),
    }),

    route.action('cancel', {
      summary: 'Cancel an execution that runs',
      description: 'What it has done outside stays done.',
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
      summary: 'Get how many runs and executions had caused some executions',
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
      description: 'By its id or slug. The latest first; all given filters must hold.',
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
      summary: 'List executions of an artifact that have to do with a record',
      description: 'Those that the record triggered, and those that touched it.',
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
