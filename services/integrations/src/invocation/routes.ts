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
      summary: 'Test a connector',
      description:
        'Checks whether the connected system responds, also while the connector is disabled. A failure is returned ' +
        'as a result, not as an error. The test counts towards the status like any invocation: after two consecutive ' +
        'calls without a response the connector is down, after one with a response it is up.',
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
        'Failed calls are retried by the policy of the connector if that is safe. With an Idempotency-Key, a ' +
        'repeated request returns the recorded result, and the connected system receives a key that stays the same. ' +
        'Values of secrets of 12 characters or more are `***` in the output, unchanged and in base64, hexadecimal, ' +
        'URLs and JSON; other encodings are not masked. The details of `upstream_error` contain the status and the ' +
        'beginning of the response.',
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
      description:
        'Returns the actions of the kind and the actions derived from the configuration of the connector, with JSON ' +
        'Schemas.',
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
        '`after` is the id of an invocation; the page continues with older ones. Invocations are kept for 30 days by ' +
        'default, as configured by the installation.',
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
      summary: 'Get an invocation of a connector',
      description:
        'Returns the invocation with its request and response, 64 KiB of each. Values of secrets are masked as in ' +
        'the output. Requires the permission to invoke the connector, because the response of the connected system ' +
        'is returned.',
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
