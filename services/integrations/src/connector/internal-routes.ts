import { ConnectorNames, ConnectorNamesQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { and, eq, inArray, or } from 'drizzle-orm'
import { connectors as table } from '../schema.js'
import { type ActionNamesOptions, createActionNames } from './action-names.js'
import type { StoredConnector } from './domain.js'

export interface InternalRoutesOptions extends ActionNamesOptions {
  database: Pick<Database, 'db'>
}

/** Internal operations for other services, which the gateway does not route. */
export function internalRoutes({ database: { db }, ...options }: InternalRoutesOptions): Route[] {
  const namesOf = createActionNames(options)
  const find = ({ workspaceId, environment, ids, names }: ConnectorNamesQuestion) =>
    db
      .select({ state: table.state })
      .from(table)
      .where(
        and(
          eq(table.workspaceId, workspaceId),
          eq(table.environment, environment),
          or(inArray(table.id, ids ?? []), inArray(table.name, names ?? [])),
        ),
      )
  return [
    defineRoute({
      method: 'post',
      tag: 'Internal',
      scope: 'service',
      idempotency: 'none',
      operationId: 'nameConnectors',
      path: '/internal/connectors/names',
      callers: ['workflows', 'sdk'],
      summary: 'Find connectors by id or name',
      body: ConnectorNamesQuestion,
      response: ConnectorNames,
      handler: async ({ body }) => {
        const { furtherActions, ...tenant } = body
        // Rows written by this service have this type.
        const states = (await find(body)).map(({ state }) => state as StoredConnector)
        const summaries = states.map(async (connector) => {
          const { id, name, kind } = connector
          return { id, name, kind, actions: await namesOf(connector, tenant, furtherActions) }
        })
        return { connectors: await Promise.all(summaries) }
      },
    }),
  ]
}
