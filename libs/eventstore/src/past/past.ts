import type { Instant, TenantScope } from '@opsplane/contracts'
import type { KeysetTable } from '@opsplane/postgres'
import { and, getTableColumns, getTableName, is, SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { type Sealed, unseal } from '../sealed.js'

/** Which events a read model's rows come from, where they are not simply the last states of its own aggregates. */
export interface Past {
  /** The kind of aggregate whose events they are, as the log names it: by its table. */
  streamType: string
  /** Types of the events that write the row: it is what the last of them left. */
  sets: readonly string[]
  /** Types of the events that remove it. */
  ends: readonly string[]
}

/** Rows of which table, and of whom, are asked for as of when. */
export interface PastOf {
  table: KeysetTable
  tenant: TenantScope
  past?: Past | undefined
  asOf: Instant
  /** Whether conditions speak only of what events carry: then what is sealed is not opened for each record. */
  onlyExposed?: boolean | undefined
}

export const pastStreamType = ({ table, past }: Pick<PastOf, 'table' | 'past'>): string =>
  past?.streamType ?? getTableName(table)

/** Events of the kind and tenant up to the instant that have a say in the rows. */
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
 * To be joined to streams: for each its last event up to the instant as `last`, and what that left by the name of the
 * read model and with its columns, computed by the expressions the table computes them by: so every condition means
 * the same of the past as of the present. `existsCondition` tells those of which there was a row.
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
/** What is selected of `last`. */
export const PastState = z.object({ state: Json, version: z.number(), sealed: StoredSealed })

/** The row as the read model would have it. */
export const pastRow = ({
  state,
  version,
  sealed,
}: {
  state: Record<string, unknown> | null
  version: number | null
  sealed: Sealed | null
}) => ({ state: unseal(state ?? {}, sealed), version: version ?? 0 })

/** How a generated column is computed from `state`; undefined for other columns. */
export function generatedExpression({ generated }: PgColumn): SQL | undefined {
  const given = generated?.as
  const expression = typeof given === 'function' ? given() : given
  return is(expression, SQL) ? expression : undefined
}

const listed = (values: readonly string[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** The whole state after an event, for conditions: `unseal` in SQL, without keeping the order of fields. */
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
