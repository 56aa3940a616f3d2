import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import {
  copyIn,
  copyOut,
  type Database,
  isLockTimeout,
  quoteIdentifier,
  readTables,
} from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import { z } from 'zod'
import { firstDay, partitionName } from './months.js'

/** The metadata in the file of a month, next to its rows. */
export const MonthFile = z.object({
  format: z.literal('opsplane-log-month-1'),
  schema: z.string(),
  month: z.string().regex(/^\d{4}-\d\d$/),
  columns: z.array(z.string()),
  events: z.int().min(0),
  first: z.int(),
  last: z.int(),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type MonthFile = z.infer<typeof MonthFile>

/** A month cannot be detached or attached as it stands. Nothing was changed. */
export class LogMonthError extends Error {}

/** The commit that drops a month was not answered: the rows may be gone, so their file stays. */
export class UnknownOutcomeError extends Error {}

interface DetachOptions {
  sql: Database['sql']
  schema: string
  /** `2026-01`. */
  month: string
  /** A new file for its rows. */
  file: string
  /** Keeps what the file is, once it is whole and before the rows go. */
  keep(file: MonthFile): Promise<void>
}

/** The lock is held no longer than this; then it is retried. */
const lockTimeoutMs = 250
const pauseMs = 200
const maxTries = 150

/**
 * Moves a month of the log to a file: writes its rows, then, in one transaction that has seen that they are all, drops them and
 * notes where they are. `sql` is one connection, on the schema, as the owner. What guards versions and ids stays (ADR 036).
 * Undefined where the month has no events. Throws LogMonthError; UnknownOutcomeError where the rows may be in the file alone.
 */
export async function detachMonth(options: DetachOptions): Promise<MonthFile | undefined> {
  const { sql, schema, month, file } = options
  const partition = partitionName(month)
  const table = (await readTables(sql, [schema])).find(({ name }) => name === partition)
  if (!table) throw new LogMonthError(`${schema} has no events of ${month} in the database.`)
  const bounds = await boundsOf(sql, partition)
  if (bounds.events === 0) return undefined
  requirePublished(bounds, options)
  if (existsSync(file))
    throw new LogMonthError(`${file} is there already, and may have the only rows of a month.`)
  try {
    const { rows, bytes, sha256 } = await copyOut(sql, table, file)
    const { events, first, last } = bounds
    if (rows !== events) throw new LogMonthError(`${month} of ${schema} was written to meanwhile.`)
    const found = { format: 'opsplane-log-month-1' as const, schema, month, columns: table.columns }
    const written = { ...found, events, first, last, bytes, sha256 }
    await options.keep(written)
    await dropMonth(sql, partition, written)
    return written
  } catch (error) {
    if (!isOthers(error) && !(error instanceof UnknownOutcomeError)) await rm(file, { force: true })
    throw error
  }
}

/** Whether another process has created the file since it was checked. */
const isOthers = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EEXIST'

function requirePublished({ waiting }: Bounds, { month, schema }: Pick<DetachOptions, 'month' | 'schema'>) {
  if (waiting > 0) throw new LogMonthError(`${waiting} events of ${month} of ${schema} wait to be published.`)
}

interface Bounds {
  events: number
  first: number
  last: number
  waiting: number
}

async function boundsOf(sql: Pick<Database['sql'], 'unsafe'>, partition: string): Promise<Bounds> {
  const [row] = await sql.unsafe<Bounds[]>(
    `select count(*)::float8 as events, coalesce(min(e.position), 0)::float8 as first,
       coalesce(max(e.position), 0)::float8 as last,
       (select count(*) from outbox o join ${partition} w on w.id = o.event_id)::float8 as waiting
     from ${partition} e`,
  )
  if (!row) throw new Error(`nothing is known of ${partition}`)
  return row
}

async function dropMonth(sql: Database['sql'], partition: string, file: MonthFile): Promise<void> {
  for (let tries = 1; ; tries++) {
    let isCommitting = false
    try {
      await sql.begin(async (tx) => {
        await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
        await tx.unsafe(`lock table ${partition} in access exclusive mode`)
        const now = await boundsOf(tx, partition)
        if (now.events !== file.events || now.last !== file.last)
          throw new LogMonthError(`${file.month} of ${file.schema} was written to meanwhile.`)
        // A stream that has lost events may have been refilled since the first look.
        requirePublished(now, file)
        await tx.unsafe(
          `insert into detached_months (month, events, first_position, last_position, sha256, folded)
           select $1::text::date, $2::text::bigint, $3::text::bigint, $4::text::bigint, $5, exists (
             select from ${partition} where stream_type not in (select j.stream_type from journals j))`,
          [firstDay(file.month), String(file.events), String(file.first), String(file.last), file.sha256],
        )
        await tx.unsafe(`alter table events detach partition ${partition}`)
        await tx.unsafe(`drop table ${partition}`)
        isCommitting = true
      })
      return
    } catch (error) {
      if (isCommitting)
        throw new UnknownOutcomeError(
          `Postgres has not said whether ${file.month} of ${file.schema} is detached: opsplane log months does. Its file stays, as it may have the only rows.`,
          { cause: error },
        )
      if (!isLockTimeout(error) || tries === maxTries) throw error
      await delay(pauseMs)
    }
  }
}

/**
 * Puts the rows of such a file, which was verified, back into the log, in one transaction. Throws LogMonthError where the log does not
 * know of it as detached.
 */
export async function attachMonth(
  sql: Database['sql'],
  { schema, month, columns, events, sha256 }: MonthFile,
  file: string,
): Promise<void> {
  const partition = partitionName(month)
  await sql.unsafe(`begin; set local lock_timeout = ${lockTimeoutMs}`).simple()
  try {
    const gone = await sql.unsafe(
      'delete from detached_months where month = $1::text::date and sha256 = $2 returning 1',
      [firstDay(month), sha256],
    )
    if (gone.length === 0)
      throw new LogMonthError(`${month} of ${schema} is not detached, or another file has it.`)
    await sql.unsafe('select add_event_month($1::text::date)', [firstDay(month)])
    await copyIn(sql, { schema, name: partition, columns, parent: null, bound: null }, file)
    const [row] = await sql.unsafe<{ count: number }[]>(
      `select count(*)::float8 as count from ${quoteIdentifier(schema)}.${partition}`,
    )
    if ((row?.count ?? 0) < events) throw new LogMonthError(`${file} has fewer events than it says.`)
    await sql.unsafe('commit')
  } catch (error) {
    await sql.unsafe('rollback')
    throw error
  }
}
