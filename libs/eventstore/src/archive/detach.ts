import { setTimeout as delay } from 'node:timers/promises'
import { type Database, isLockTimeout, relationExists } from '@opsplane/postgres'
import { checksumMonth } from './month-events.js'
import { detachedName, firstDay, partitionName } from './months.js'

/** A month cannot be detached, attached or verified in its current state. Nothing was changed. */
export class LogMonthError extends Error {}

/**
 * Arguments for work on one month of the log of the schema in search_path. `sql` is one connection, as the owner
 * of the tables.
 */
export interface MonthTask {
  sql: Database['sql']
  /** `2026-01`. */
  month: string
}

export interface DetachedMonth {
  month: string
  events: number
  first: number
  last: number
  /** SHA-256 of the events, see MonthChecksum. */
  sha256: string
}

/** Lock timeout. It is short because writers queue behind the lock request; the request is then retried. */
const lockTimeoutMs = 250
const pauseMs = 200
const maxTries = 150

/**
 * Detaches a month from the log: its partition becomes a separate table, whose checksum is recorded. The rows that
 * protect versions and ids remain (ADR 036). Returns `undefined` if the month has no events. Throws LogMonthError.
 */
export async function detachMonth({ sql, month }: MonthTask): Promise<DetachedMonth | undefined> {
  const partition = partitionName(month)
  if (!(await relationExists(sql, partition)))
    throw new LogMonthError(`The log has no partition of ${month}: see opsplane log months.`)
  const bounds = await boundsOf(sql, partition)
  if (bounds.events === 0) return undefined
  requirePublished(bounds, month)
  const { sha256 } = await checksumMonth(sql, partition)
  const detached = { month, events: bounds.events, first: bounds.first, last: bounds.last, sha256 }
  for (let tries = 1; ; tries++) {
    try {
      await detachPartition(sql, detached)
      return detached
    } catch (error) {
      if (!isLockTimeout(error) || tries === maxTries) throw error
      await delay(pauseMs)
    }
  }
}

function detachPartition(sql: Database['sql'], detached: DetachedMonth): Promise<unknown> {
  const { month, events, first, last, sha256 } = detached
  const partition = partitionName(month)
  return sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
    await tx.unsafe(`lock table ${partition} in access exclusive mode`)
    const now = await boundsOf(tx, partition)
    if (now.events !== events || now.last !== last)
      throw new LogMonthError(`Events of ${month} were written during the checksum: run the command again.`)
    // A stream that lost events may have been refilled since the first check.
    requirePublished(now, month)
    await tx.unsafe(
      `insert into detached_months (month, events, first_position, last_position, sha256, folded)
       select $1::text::date, $2::text::bigint, $3::text::bigint, $4::text::bigint, $5, exists (
         select from ${partition} where stream_type not in (select j.stream_type from journals j))`,
      [firstDay(month), String(events), String(first), String(last), sha256],
    )
    await tx.unsafe(`alter table events detach partition ${partition}`)
    await tx.unsafe(`alter table ${partition} rename to ${detachedName(month)}`)
  })
}

/**
 * Attaches the events of a detached month to the log again and drops its table, in one transaction. Throws
 * LogMonthError if the month is not detached, its table is not in the database, or the table's events differ from
 * those detached.
 */
export async function attachMonth({ sql, month }: MonthTask): Promise<DetachedMonth> {
  const detached = await verifyMonth({ sql, month })
  const [partition, table] = [partitionName(month), detachedName(month)]
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
    await tx.unsafe(`lock table ${table} in access exclusive mode`)
    const now = await boundsOf(tx, table)
    if (now.events !== detached.events) throw new LogMonthError(`${table} was changed meanwhile.`)
    const [columns] = await tx.unsafe<{ names: string }[]>(
      `select string_agg(quote_ident(attname), ', ' order by attnum) as names from pg_attribute
       where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    )
    await tx.unsafe('delete from detached_months where month = $1::text::date', [firstDay(month)])
    await tx.unsafe('select add_event_month($1::text::date)', [firstDay(month)])
    await tx.unsafe(
      `insert into ${partition} (${columns?.names}) select ${columns?.names} from ${table} order by position`,
    )
    await tx.unsafe(`drop table ${table}`)
  })
  return detached
}

/**
 * Compares the table of a detached month with the recorded checksum. Throws LogMonthError if they differ, the
 * month is not detached, or its table is not in the database.
 */
export async function verifyMonth({ sql, month }: MonthTask): Promise<DetachedMonth> {
  const [recorded] = await sql.unsafe<DetachedMonth[]>(
    `select to_char(month, 'YYYY-MM') as month, events::float8 as events, first_position::float8 as first,
       last_position::float8 as last, sha256 from detached_months where month = $1::text::date`,
    [firstDay(month)],
  )
  if (!recorded) throw new LogMonthError(`${month} is not detached: see opsplane log months.`)
  const table = detachedName(month)
  if (!(await relationExists(sql, table)))
    throw new LogMonthError(`The table ${table} is not in the database: restore it with pg_restore first.`)
  const found = await checksumMonth(sql, table)
  if (found.events !== recorded.events)
    throw new LogMonthError(`${table} has ${found.events} events; ${recorded.events} were detached.`)
  if (found.sha256 !== recorded.sha256)
    throw new LogMonthError(`${table} has other events than were detached: its checksum differs.`)
  return recorded
}

interface Bounds {
  events: number
  first: number
  last: number
  waiting: number
}

function requirePublished({ waiting }: Bounds, month: string): void {
  if (waiting > 0)
    throw new LogMonthError(`${waiting} events of ${month} are not published yet: try again once they are.`)
}

async function boundsOf(sql: Pick<Database['sql'], 'unsafe'>, table: string): Promise<Bounds> {
  const [row] = await sql.unsafe<Bounds[]>(
    `select count(*)::float8 as events, coalesce(min(e.position), 0)::float8 as first,
       coalesce(max(e.position), 0)::float8 as last,
       (select count(*) from outbox o join ${table} w on w.id = o.event_id)::float8 as waiting
     from ${table} e`,
  )
  if (!row) throw new Error(`no bounds of ${table}`)
  return row
}
