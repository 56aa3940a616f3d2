import { type InternalParty, KnownNames, NamesQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'

interface NamesRoute {
  operationId: string
  path: string
  summary: string
  callers: readonly InternalParty[]
  /** A read model, and the columns that name a row. */
  table: string
  columns: readonly string[]
  /** Condition on the row, `kept`; default: all rows. */
  only?: string
}

/** Internal route by which other services query which resources of an environment have one of these names. */
export const namesRoute = (
  { sql }: Pick<Database, 'sql'>,
  { table, columns, only = 'true', ...route }: NamesRoute,
): Route =>
  defineRoute({
    ...route,
    method: 'post',
    tag: 'Internal',
    scope: 'service',
    idempotency: 'none',
    body: NamesQuestion,
    response: KnownNames,
    handler: async ({ body: { workspaceId, environment, names } }) => {
      const named = columns.map((column) => `kept.${column} = asked.name`).join(' or ')
      const rows = await sql.unsafe<{ name: string }[]>(
        `select distinct asked.name from unnest($3::text[]) as asked(name)
         where exists (select from ${table} kept
           where kept.workspace_id = $1 and kept.environment = $2 and (${named}) and ${only})`,
        [workspaceId, environment, names],
        { prepare: true },
      )
      return { names: rows.map(({ name }) => name) }
    },
  })
