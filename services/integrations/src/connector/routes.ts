import { Connector, ConnectorKind, ConnectorPatch, ConnectorStatus, NewConnector } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
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

export function connectorRoutes(ctx: ServiceContext, connectors: Connectors, kinds: Kinds): Route[] {
  const { database, cursors } = ctx
  // They are those of the release. Their schemas are made with the first question, not with the service.
  let shownKinds: ConnectorKind[] | undefined
  return [
    defineRoute({
      operationId: 'listConnectorKinds',
      method: 'get',
      path: '/connectors/kinds',
      summary: 'List the kinds of connectors',
      description: 'With the configuration and the actions of each as JSON Schema, to build forms from.',
      tag,
      scope: 'connectors:read',
      response: z.array(ConnectorKind),
      handler: async () => {
        shownKinds ??= kinds.all.map(shownKind)
        return shownKinds
      },
    }),

    defineList({
      operationId: 'listConnectors',
      path: '/connectors',
      summary: 'List connectors',
      description:
        'With the status of each and, of those that are down, the last error. All given filters must hold.',
      tag,
      scope: 'connectors:read',
      sorts: ['-createdAt', 'name'],
      query: filters,
      response: Connector,
      handler: ({ query: { limit, after, sort, name, kind, status }, binding, meta: { tenant } }) =>
        listPage(database.db, {
          table,
          tenant,
          where: [
            ...(name === undefined ? [] : [eq(table.name, name)]),
            ...(kind === undefined ? [] : [eq(table.kind, kind)]),
            ...(status === undefined ? [] : [eq(table.status, status)]),
          ],
          sort: { column: sort.field === 'name' ? table.name : table.createdAt, direction: sort.direction },
          ...{ limit, after, binding, cursors, asOf: undefined, present: connectors.aggregate.present },
        }),
    }),

    defineRoute({
      operationId: 'createConnector',
      method: 'post',
      path: '/connectors',
      summary: 'Add a connector',
      description:
        'A configuration that refers to secrets takes `secrets:use`; they are used in the name of its owner, no matter who ' +
        'invokes it. A name that is taken is a 409. Emits `connector.created`.',
      tag,
      scope: 'connectors:write',
      body: NewConnector,
      response: Connector,
      status: 201,
      errors: ['conflict', 'forbidden', 'step_up_required', 'quota_exceeded'],
      handler: ({ body, meta }) => connectors.create(body, meta),
    }),

    defineRoute({
      operationId: 'getConnector',
      method: 'get',
      path: '/connectors/:id',
      summary: 'Get a connector',
      description: 'With its configuration, in which credentials are references to secrets, and its status.',
      tag,
      scope: 'connectors:read',
      response: Connector,
      errors: ['not_found'],
      handler: ({ params, meta }) => connectors.aggregate.get(params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'updateConnector',
      method: 'patch',
      path: '/connectors/:id',
      summary: 'Change a connector',
      description:
        'A user who sets a configuration, or enables it again, becomes its owner, and must hold `secrets:use` where it ' +
        'refers to secrets; its status is then unknown. Emits `connector.updated`, or nothing where nothing changes.',
      tag,
      scope: 'connectors:write',
      body: ConnectorPatch,
      response: Connector,
      errors: [
        'not_found',
        'conflict',
        'forbidden',
        'step_up_required',
        'precondition_failed',
        'version_conflict',
      ],
      handler: ({ params, body, meta }) => connectors.update(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'deleteConnector',
      method: 'delete',
      path: '/connectors/:id',
      summary: 'Remove a connector',
      description: 'Its log of invocations is no longer shown. Emits `connector.deleted`.',
      tag,
      scope: 'connectors:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
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
