import { listPartitions, type StatementRunner } from '@opsplane/postgres'

/** A month of a log, in the database or in a file. */
export interface LogMonth {
  /** `2026-11`. */
  month: string
  isDetached: boolean
  events: number
  /** Positions; null where there are no events. */
  first: number | null
  last: number | null
  /** In the database; 0 for one that is detached. */
  bytes: number
}

/** The name of a month's partition. */
export const partitionName = (month: string) => `events_${month.replace('-', '')}`

export const firstDay = (month: string) => `${month}-01`

/** All months of the log of the schema in search_path, oldest first. Counts what there is. */
export async function logMonths(sql: StatementRunner): Promise<LogMonth[]> {
  const months: LogMonth[] = []
  for (const name of await listPartitions(sql, 'events')) {
    const [row] = await sql.unsafe<Omit<LogMonth, 'month' | 'isDetached'>[]>(
      `select count(*)::float8 as events, min(position)::float8 as first, max(position)::float8 as last,
         pg_total_relation_size('${name}')::float8 as bytes from ${name}`,
    )
    const month = name.replace(/^events_(\d{4})(\d\d)$/, '$1-$2')
    if (row) months.push({ month, isDetached: false, ...row })
  }
  const detached = await sql.unsafe<Omit<LogMonth, 'isDetached' | 'bytes'>[]>(
    `select to_char(month, 'YYYY-MM') as month, events::float8 as events, first_position::float8 as first,
       last_position::float8 as last from detached_months`,
  )
  const gone = detached.map((each) => ({ ...each, isDetached: true, bytes: 0 }))
  return [...gone, ...months].sort((one, other) => one.month.localeCompare(other.month))
}

/** Something asks for events that are in files. */
export class DetachedMonthsError extends Error {
  constructor(readonly months: readonly string[]) {
    super(
      `Events of ${months.join(', ')} are in files: attach those months again first (opsplane log attach).`,
    )
  }
}

/** Throws DetachedMonthsError where read models cannot be folded without what is in files. */
export async function requireFoldedMonths(sql: StatementRunner): Promise<void> {
  const rows = await sql.unsafe<{ month: string }[]>(
    `select to_char(month, 'YYYY-MM') as month from detached_months where folded order by 1`,
  )
  if (rows.length > 0) throw new DetachedMonthsError(rows.map(({ month }) => month))
}
