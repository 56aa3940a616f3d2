import { listPartitions, type StatementRunner } from '@opsplane/postgres'

export interface LogMonth {
  /** `2026-11`. */
  month: string
  /**
   * `log`: a partition of the log. `table`: detached into a separate table. `dropped`: detached, and its table is no
   * longer in the database.
   */
  where: 'log' | 'table' | 'dropped'
  events: number
  /** First position; `null` if there are no events. */
  first: number | null
  last: number | null
  /** Size in the database. */
  bytes: number
}

/** The name of a month's partition. */
export const partitionName = (month: string) => `events_${month.replace('-', '')}`

/** The name of the table that a month's partition becomes when it is detached. */
export const detachedName = (month: string) => `detached_events_${month.replace('-', '')}`

export const isDetachedName = (table: string): boolean => /^detached_events_\d{6}$/.test(table)

export const firstDay = (month: string) => `${month}-01`

/** All months of the log of the schema in search_path, oldest first. Counts the rows of each partition. */
export async function logMonths(sql: StatementRunner): Promise<LogMonth[]> {
  const months: LogMonth[] = []
  for (const name of await listPartitions(sql, 'events')) {
    const [row] = await sql.unsafe<Omit<LogMonth, 'month' | 'where'>[]>(
      `select count(*)::float8 as events, min(position)::float8 as first, max(position)::float8 as last,
         pg_total_relation_size('${name}')::float8 as bytes from ${name}`,
    )
    const month = name.replace(/^events_(\d{4})(\d\d)$/, '$1-$2')
    if (row) months.push({ month, where: 'log', ...row })
  }
  const detached = await sql.unsafe<LogMonth[]>(
    `select to_char(month, 'YYYY-MM') as month, case when tab is null then 'dropped' else 'table' end as where,
       events::float8 as events, first_position::float8 as first, last_position::float8 as last,
       coalesce(pg_total_relation_size(tab), 0)::float8 as bytes
     from detached_months, to_regclass('detached_events_' || to_char(month, 'YYYYMM')) tab`,
  )
  return [...detached, ...months].sort((one, other) => one.month.localeCompare(other.month))
}

/** A read model or a consumer needs events of detached months. */
export class DetachedMonthsError extends Error {
  constructor(readonly months: readonly string[]) {
    super(`The months ${months.join(', ')} are detached: attach them first (opsplane log attach).`)
  }
}

/** Throws DetachedMonthsError if read models are folded from events of detached months. */
export async function requireFoldedMonths(sql: StatementRunner): Promise<void> {
  const rows = await sql.unsafe<{ month: string }[]>(
    `select to_char(month, 'YYYY-MM') as month from detached_months where folded order by 1`,
  )
  if (rows.length > 0) throw new DetachedMonthsError(rows.map(({ month }) => month))
}
