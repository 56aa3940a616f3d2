import { minId } from '@opsplane/contracts'
import { type Database, listPartitions } from '@opsplane/postgres'
import { dayMs, toDayNumber } from './retention-policy.js'

type Sql = Database['sql']

const tables = {
  deliveries: { column: 'id', kind: 'delivery' },
  delivery_attempts: { column: 'delivery_id', kind: 'delivery' },
  delivery_events: { column: 'event_id', kind: 'event' },
} as const
type DayTable = keyof typeof tables
export type RelatedTable = Exclude<DayTable, 'deliveries'>

const rangeOf = (table: DayTable, day: number) =>
  [day, day + 1].map((edge) => minId(tables[table].kind, edge * dayMs))

/** The days up to `last` for which any of the tables has a partition, oldest first. */
export async function listDaysUntil(sql: Pick<Sql, 'unsafe'>, last: number): Promise<number[]> {
  const names = await listPartitions(sql, ...Object.keys(tables))
  const days = new Set(names.map(parsePartitionDay))
  return [...days].filter((day) => day <= last).sort((a, b) => a - b)
}

/** The day number in a name such as `deliveries_20260301`. */
export function parsePartitionDay(name: string): number {
  const [year, month, day] = name.match(/_(\d{4})(\d\d)(\d\d)$/)?.slice(1) ?? []
  return toDayNumber(Date.parse(`${year}-${month}-${day}T00:00:00Z`))
}

/** Whether a delivery of the day is unfinished or held. */
export async function hasUnfinished(sql: Sql, day: number): Promise<boolean> {
  const [row] = await sql.unsafe<{ found: boolean }[]>(
    `select exists (
       select 1 from deliveries where id >= $1 and id < $2 and status in ('pending', 'retrying')) as found`,
    rangeOf('deliveries', day),
  )
  return row?.found ?? false
}

/** Whether deliveries exist for these attempts or events: replays refer to events of earlier days. */
export async function hasReferences(sql: Sql, table: RelatedTable, day: number): Promise<boolean> {
  const column = table === 'delivery_attempts' ? 'id' : 'event_id'
  const [row] = await sql.unsafe<{ found: boolean }[]>(
    `select exists (select 1 from deliveries where ${column} >= $1 and ${column} < $2) as found`,
    rangeOf(table, day),
  )
  return row?.found ?? false
}

/** Row count for the log; null if counting takes too long. */
export async function countDay(sql: Sql, table: DayTable, day: number): Promise<number | null> {
  const { column } = tables[table]
  try {
    const [row] = await sql.unsafe<{ rows: string }[]>(
      `select count(*) as rows from ${table} where ${column} >= $1 and ${column} < $2`,
      rangeOf(table, day),
    )
    return Number(row?.rows)
  } catch {
    return null
  }
}

/** Number of dropped deliveries that were unfinished; null if nothing was dropped. */
export async function dropDeliveries(sql: Sql, day: number, forced: boolean): Promise<number | null> {
  const [row] = await sql.unsafe<{ lost: string | null }[]>(
    `select drop_delivery_day(date '1970-01-01' + $1::int, $2) as lost`,
    [day, forced],
  )
  return typeof row?.lost === 'string' ? Number(row.lost) : null
}

/**
 * Returns whether the partition was dropped: attempts after their deliveries, events after
 * the last delivery of any of them.
 */
export async function dropRelated(sql: Sql, table: RelatedTable, day: number): Promise<boolean> {
  const drop = table === 'delivery_attempts' ? 'drop_attempt_day' : 'drop_event_day'
  const [row] = await sql.unsafe<{ dropped: boolean }[]>(
    `select ${drop}(date '1970-01-01' + $1::int) as dropped`,
    [day],
  )
  return row?.dropped ?? false
}
