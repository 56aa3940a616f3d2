import { Connector, ConnectorKind, ConnectorPatch, ConnectorStatus, NewConnector } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { jsonSchema, presentAction } from '../kind/action.js'
import type { Kind } from '../kind/kind.js'
import type { Kinds } from '../kind/kinds.js'
import { connectors as table } from '../schema.js'
import type { Connectors } from './connectors.js'

const tag = 'Connectors'
const filters = z.object({
  name: z.string().min(1).max(200).optional(),
  kind: z.string().min(1).max(50).optional(),
  status: ConnectorStatus.optional(),
})

const route = defineResource({
  name: 'Connector',
  path: '/connectors',
  tag,
  read: 'connectors:read',
  write: 'connectors:write',
  response: Connector,
})

export function connectorRoutes(ctx: ServiceContext, connectors: Connectors, kinds: Kinds): Route[] {
  // Kinds are fixed for a release. Their schemas are computed on the first request, not at startup.
  let shownKinds: ConnectorKind[] | undefined
  return [
    defineRoute({
      operationId: 'listConnectorKinds',
      method: 'get',
      path: '/connectors/kinds',
      summary: 'List the kinds of connectors',
      description:
        'Returns the configuration and the actions of each kind as JSON Schema, from which forms can be built.',
      tag,
      scope: 'connectors:read',
      response: z.array(ConnectorKind),
      handler: async () => {
        shownKinds ??= kinds.all.map(shownKind)
        return shownKinds
      },
    }),

    route.list({
      summary: 'List connectors',
      description:
        'Returns each connector with its status and, if it is down, the last error. Multiple filters are combined ' +
        'with AND.',
      sorts: ['-createdAt', 'name'],
      query: filters,
      handler: pageReader(ctx, {
        table,
        present: connectors.aggregate.present,
        select: ({ query: { name, kind, status } }) => ({
          where: [
            ...(name === undefined ? [] : [eq(table.name, name)]),
            ...(kind === undefined ? [] : [eq(table.kind, kind)]),
            ...(status === undefined ? [] : [eq(table.status, status)]),
          ],
        }),
      }),
    }),

    route.create({
      summary: 'Create a connector',
      description:
        'A configuration that refers to secrets requires `secrets:use`; secrets are used on behalf of the owner of ' +
        'the connector, regardless of the caller. A name that is already used returns 409. Emits `connector.created`.',
      body: NewConnector,
      errors: ['conflict', 'forbidden', 'step_up_required', 'quota_exceeded'],
      handler: ({ body, meta }) => connectors.create(body, meta),
    }),

    route.get({
      summary: 'Get a connector',
      description:
        'Returns the connector with its status and its configuration, in which credentials are references to secrets.',
      handler: ({ params, meta }) => connectors.aggregate.get(params.id, meta.tenant),
    }),

    route.update({
      summary: 'Update a connector',
      description:
        'A user who sets the configuration, or enables the connector again, becomes its owner and must hold ' +
        '`secrets:use` if the configuration refers to secrets; the status of the connector is then unknown. Emits ' +
        '`connector.updated`, or no event if nothing changes.',
      body: ConnectorPatch,
      errors: ['conflict', 'forbidden', 'step_up_required'],
      handler: ({ params, body, meta }) => connectors.update(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a connector',
      description: 'The log of its invocations is no longer available. Emits `connector.deleted`.',
      handler: ({ params, meta }) => connectors.delete(params.id, meta),
    }),
  ]
}

function shownKind({ name, title, description, config, actions }: Kind): ConnectorKind {
  return {
    name,
    title,
    description,
    config: jsonSchema(config, 'input'),
    actions: actions.map(presentAction),
  }
}
