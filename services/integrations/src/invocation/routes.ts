import {
  ConnectorAction,
  ConnectorInvocation,
  ConnectorInvocationDetail,
  ConnectorResult,
  ConnectorTest,
  InvocationFilters,
  InvokeConnector,
} from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { Connectors } from '../connector/connectors.js'
import type { Invoke } from './invoker.js'
import type { Probe } from './probe.js'
import { getInvocation, listInvocations } from './queries.js'

const tag = 'Connectors'

export interface InvocationRoutesContext {
  database: Database
  connectors: Connectors
  invoke: Invoke
  probe: Probe
}

/** Routes for tests and invocations of connectors, and for the invocation log. */
export function invocationRoutes({ database, connectors, invoke, probe }: InvocationRoutesContext): Route[] {
  return [
    defineRoute({
      operationId: 'testConnector',
      method: 'post',
      path: '/connectors/:id/test',
      summary: 'Test a connection',
      description:
        'Finds out whether what it leads to answers, also while it is turned off. A failure is a result, not an error. ' +
        'Counts for the status like any use: two in a row that nothing answers are down, one that is answered is up.',
      tag,
      scope: 'connectors:invoke',
      response: ConnectorTest,
      waits: true,
      idempotency: 'claim',
      handler: ({ params, meta }) => probe.test(params.id, meta),
    }),

    defineRoute({
      operationId: 'invokeConnector',
      method: 'post',
      path: '/connectors/:id/invoke',
      summary: 'Invoke a connector action',
      description:
        'Retried by the policy of the connector as far as that is safe. With an Idempotency-Key the same request again ' +
        'gets the recorded result, and the other side is sent a key that stays the same. Values of secrets of 12 ' +
        'characters or more are `***` in the output, as they are and in base64, hexadecimal, URLs and JSON; other encodings pass. `upstream_error` has the status and the beginning of what was answered in its details.',
      tag,
      scope: 'connectors:invoke',
      body: InvokeConnector,
      response: ConnectorResult,
      waits: true,
      idempotency: 'claim',
      errors: ['conflict'],
      handler: ({ params, body, meta }) => invoke(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'listConnectorActions',
      method: 'get',
      path: '/connectors/:id/actions',
      summary: 'List the actions of a connector',
      description: 'Those of its kind, and those that follow from its configuration, with JSON Schemas.',
      tag,
      scope: 'connectors:read',
      response: z.array(ConnectorAction),
      waits: true,
      errors: ['conflict'],
      handler: ({ params, meta }) => probe.actions(params.id, meta),
    }),

    defineList({
      operationId: 'listConnectorInvocations',
      path: '/connectors/:id/invocations',
      summary: 'List the invocations of a connector, newest first',
      description:
        '`after` is the id of an invocation: older ones follow. They are kept for 30 days, unless the installation says ' +
        'otherwise.',
      tag,
      scope: 'connectors:read',
      sorts: [],
      query: InvocationFilters,
      response: ConnectorInvocation,
      handler: async ({ params, query, meta: { tenant } }) => {
        const { id: connectorId } = await connectors.aggregate.get(params.id, tenant)
        return listInvocations(database, { ...query, tenant, connectorId })
      },
    }),

    defineRoute({
      operationId: 'getConnectorInvocation',
      method: 'get',
      path: '/connectors/:id/invocations/:invocationId',
      summary: 'Get an invocation with request and response',
      description:
        'Values of secrets are masked as in the output; 64 KiB of each. Takes the right to invoke: what was answered is shown.',
      tag,
      scope: 'connectors:invoke',
      response: ConnectorInvocationDetail,
      handler: async ({ params, meta: { tenant } }) => {
        const { id: connectorId } = await connectors.aggregate.get(params.id, tenant)
        return getInvocation(database, tenant, connectorId, params.invocationId)
      },
    }),
  ]
}
