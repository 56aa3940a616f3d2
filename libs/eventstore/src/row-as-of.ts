import type { Instant, TenantScope } from '@opsplane/contracts'
import type { KeysetTable } from '@opsplane/postgres'
import { getTableColumns, getTableName, is, SQL, sql } from 'drizzle-orm'

/**
 * The row of an aggregate as it was at an instant, to be joined laterally; none where it was not there then. It goes
 * by the read model's name and has its columns, so that conditions on the table hold for it.
 */
export function rowAsOf(table: KeysetTable, id: SQL, tenant: TenantScope, asOf: Instant): SQL {
  const { workspaceId, environment } = tenant
  return sql`(
    select folded.*, ${computedColumns(table)} from (
      select ${id} as id, ${workspaceId}::text as workspace_id, ${environment}::text as environment,
        last.version, ${stateSql} as state
      from (
        select version, data->'after' as after, sealed from events
        where stream_id = ${id} and stream_type = ${getTableName(table)} and workspace_id = ${workspaceId}
          and environment = ${environment} and created_at <= ${asOf}::text::timestamptz
        order by version desc limit 1
      ) last
      where json_typeof(last.after) = 'object' offset 0
    ) folded
  ) ${table}`
}

/** The whole state after the event `last`, for conditions: `unseal` in SQL, without keeping the order of fields. */
export const stateSql = sql`case when last.sealed is null then last.after else (
  (last.after::jsonb - array(select json_array_elements_text(last.sealed->'derived'))) ||
  (last.sealed->'hidden')::jsonb
)::json end`

/** The generated columns of the table, computed from `state`. */
export function computedColumns(table: KeysetTable): SQL {
  const columns = Object.values(getTableColumns(table)).flatMap(({ name, generated }) => {
    const given = generated?.as
    const expression = typeof given === 'function' ? given() : given
    return is(expression, SQL) ? [sql`(${expression}) as ${sql.identifier(name)}`] : []
  })
  return sql.join(columns, sql`, `)
}
