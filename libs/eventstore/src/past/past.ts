import type { Instant, TenantScope } from '@opsplane/contracts'
import type { KeysetTable } from '@opsplane/postgres'
import { and, getTableColumns, getTableName, is, SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { type Sealed, unseal } from '../sealed.js'

/** The events that a read model's rows come from, if they are not simply the last states of its own aggregates. */
export interface Past {
  /** The type of the aggregates with those events, named in the log by its table. */
  streamType: string
  /** Types of the events that write the row: its state is the one after the last of them. */
  sets: readonly string[]
  /** Types of the events that remove the row. */
  ends: readonly string[]
}

/** Selects the rows of a table and tenant as of an instant. */
export interface PastOf {
  table: KeysetTable
  tenant: TenantScope
  past?: Past | undefined
  asOf: Instant
  /**
   * Whether conditions use only fields that events carry unsealed: then records need not be unsealed to evaluate
   * them.
   */
  onlyExposed?: boolean | undefined
}

export const pastStreamType = ({ table, past }: Pick<PastOf, 'table' | 'past'>): string =>
  past?.streamType ?? getTableName(table)

/** Events of the type and tenant up to the instant that affect the rows. */
export function pastEvents({ tenant, asOf, ...of }: PastOf): SQL | undefined {
  const { past } = of
  return and(
    sql`stream_type = ${pastStreamType(of)}`,
    sql`workspace_id = ${tenant.workspaceId} and environment = ${tenant.environment}`,
    sql`created_at <= ${asOf}::text::timestamptz`,
    past && sql`type in (${listed([...past.sets, ...past.ends])})`,
  )
}

/**
 * SQL to join to streams: for each stream its last event up to the instant as `last`, and the state after it under
 * the name of the read model and with its columns. Columns are computed by the table's own expressions, so that
 * every condition means the same for the past as for the present. `existsCondition` selects the streams for which
 * a row existed.
 */
export function pastRows(of: PastOf, stream: SQL, version?: SQL): SQL {
  return sql`
    cross join lateral (
      select version, type, data->'after' as after, sealed from events
      where ${and(sql`stream_id = ${stream}`, pastEvents(of), version && sql`version = ${version}`)}
      order by version desc limit 1
    ) last
    cross join lateral (
      select folded.*, ${computedColumns(of.table)} from (
        select ${stream} as id, ${of.tenant.workspaceId}::text as workspace_id,
          ${of.tenant.environment}::text as environment, last.version as version,
          ${of.onlyExposed ? sql`last.after` : stateSql} as state offset 0
      ) folded
    ) ${of.table}`
}

export const existsCondition = ({ past }: Pick<PastOf, 'past'>): SQL | undefined =>
  and(sql`json_typeof(last.after) = 'object'`, past && sql`last.type in (${listed(past.sets)})`)

const Json = z.record(z.string(), z.unknown())
const StoredSealed = z.object({ hidden: Json, derived: z.array(z.string()) }).nullable()
/** The columns selected from `last`. */
export const PastState = z.object({ state: Json, version: z.number(), sealed: StoredSealed })

/** The row as the read model would contain it. */
export const pastRow = ({
  state,
  version,
  sealed,
}: {
  state: Record<string, unknown> | null
  version: number | null
  sealed: Sealed | null
}) => ({ state: unseal(state ?? {}, sealed), version: version ?? 0 })

/** The expression that computes a generated column from `state`; `undefined` for other columns. */
export function generatedExpression({ generated }: PgColumn): SQL | undefined {
  const definition = generated?.as
  const expression = typeof definition === 'function' ? definition() : definition
  return is(expression, SQL) ? expression : undefined
}

const listed = (values: readonly string[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** The full state after an event, for conditions: `unseal` in SQL, without preserving the order of fields. */
const stateSql = sql`case when last.sealed is null then last.after else (
  (last.after::jsonb - array(select json_array_elements_text(last.sealed->'derived'))) ||
  (last.sealed->'hidden')::jsonb
)::json end`

function computedColumns(table: KeysetTable): SQL {
  const columns = Object.values(getTableColumns(table)).flatMap((column) => {
    const expression = generatedExpression(column)
    return expression ? [sql`(${expression}) as ${sql.identifier(column.name)}`] : []
  })
  return sql.join(columns, sql`, `)
}
