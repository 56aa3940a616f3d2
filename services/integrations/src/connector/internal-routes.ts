import { ConnectorNames, ConnectorNamesQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { and, eq, inArray, or } from 'drizzle-orm'
import type { Kind } from '../kind/kind.js'
import type { Kinds } from '../kind/kinds.js'
import { connectors as table } from '../schema.js'

/** What other services ask integrations. The gateway routes none of it. */
export function internalRoutes({ db }: Pick<Database, 'db'>, kinds: Kinds): Route[] {
  return [
    defineRoute({
      method: 'post',
      tag: 'Internal',
      scope: 'service',
      idempotency: 'none',
      operationId: 'nameConnectors',
      path: '/internal/connectors/names',
      callers: ['workflows', 'sdk'],
      summary: 'Find connectors by their ids or names',
      body: ConnectorNamesQuestion,
      response: ConnectorNames,
      handler: async ({ body: { workspaceId, environment, ids, names } }) => ({
        connectors: await db
          .select({ id: table.id, name: table.name, kind: table.kind })
          .from(table)
          .where(
            and(
              eq(table.workspaceId, workspaceId),
              eq(table.environment, environment),
              or(inArray(table.id, ids), inArray(table.name, names)),
            ),
          )
          .then((rows) =>
            rows.map(({ id, name, kind }) => ({
              ...{ id, name: name ?? '', kind: kind ?? '' },
              actions: actionsOf(kinds.named(kind ?? '')),
            })),
          ),
      }),
    }),
  ]
}

const actionsOf = ({ actions, hasFurtherActions }: Kind): string[] | null =>
  hasFurtherActions ? null : actions.map(({ name }) => name)
