import { auditedEvent, type BackendName, canonicalJson, type PlatformEvent } from '@opsplane/contracts'
import {
  attachMonth,
  detachedName,
  detachMonth,
  type LogMonth,
  LogMonthError,
  logMonths,
  monthEvents,
  verifyMonth,
} from '@opsplane/eventstore'
import { type Database, openClient } from '@opsplane/postgres'
import { findDatabaseUrl } from './data-database.js'
import { OpsError } from './ops-target.js'
import { eachService, findSchema, type OpsTask } from './ops-tasks.js'

/** A month that was detached, attached or verified. */
export interface MonthResult {
  service: BackendName
  month: string
  /** Table name with the schema, as pg_dump expects it. */
  table: string
  events: number
}

/** The months of each log, attached and detached. Throws OpsError. */
export async function monthsOfLogs(task: OpsTask): Promise<({ service: BackendName } & LogMonth)[]> {
  const lists = await eachService(task, (service) =>
    within(task, service, async (sql) => (await logMonths(sql)).map((month) => ({ service, ...month }))),
  )
  return lists.flat()
}

/** Minimum days since the end of a month to detach: streams and consumers are backfilled from younger ones. */
const youngestDays = 31

/** Detaches the months of each log before `before`, such as `2026-09`, each in its own transaction. Throws OpsError. */
export async function detachMonths(task: OpsTask & { before: string }): Promise<MonthResult[]> {
  const { before } = task
  if (Date.parse(`${before}-01`) > Date.now() - youngestDays * 86_400_000)
    throw new OpsError(
      'refused',
      `Only months that ended ${youngestDays} days ago or longer can be detached.`,
    )
  const isDue = ({ month, where, events }: LogMonth) => where === 'log' && events > 0 && month < before
  return eachMonth(task, isDue, async (sql, month, table) => {
    await detachMonth({ sql, month })
    task.say?.(`${month} is detached: it is the table ${table}`)
  })
}

export interface DetachedMonthsTask extends OpsTask {
  /** Only this month, such as `2026-09`. */
  month?: string | undefined
}

/** Attaches the detached months whose tables are in the database to their logs again. Throws OpsError. */
export function attachMonths(task: DetachedMonthsTask): Promise<MonthResult[]> {
  return eachMonth(task, isDetached(task), async (sql, month, table) => {
    await attachMonth({ sql, month })
    task.say?.(`${month} is attached; the table ${table} is gone`)
  })
}

/**
 * Compares each detached month with its checksum, and every event in it with the audit log, whose chain and
 * checkpoints prove that it is unchanged. Throws OpsError that names the first difference.
 */
export async function auditMonths(task: DetachedMonthsTask): Promise<MonthResult[]> {
  const settings = session(await findDatabaseUrl('settings', task.target.databaseUrl()), 'settings')
  try {
    return await eachMonth(task, isDetached(task), async (sql, month, table) => {
      await verifyMonth({ sql, month })
      for await (const batch of monthEvents(sql, detachedName(month)))
        await compareWithAudit(settings, batch, table)
    })
  } finally {
    await settings.end({ timeout: 5 })
  }
}

const isDetached =
  ({ month }: DetachedMonthsTask) =>
  (found: LogMonth) =>
    month === undefined ? found.where === 'table' : found.month === month

async function compareWithAudit(sql: Database['sql'], events: PlatformEvent[], table: string): Promise<void> {
  const rows = await sql.unsafe<{ id: string; event: unknown }[]>(
    'select id, event from audit_log where id = any($1::text[])',
    [events.map(({ id }) => id)],
  )
  const audited = new Map(rows.map(({ id, event }) => [id, canonicalJson(event)]))
  for (const event of events) {
    // Older audit entries contain the event as it is in its log.
    const shown = [auditedEvent(event), event].map(canonicalJson)
    if (!shown.includes(audited.get(event.id) ?? ''))
      throw new OpsError('refused', `${event.id} in ${table} differs from its entry in the audit log.`)
  }
}

/** Does `work` for the months of the requested services, one after the other. */
async function eachMonth(
  task: OpsTask,
  isSelected: (month: LogMonth) => boolean,
  work: (sql: Database['sql'], month: string, table: string) => Promise<void>,
): Promise<MonthResult[]> {
  const done = await eachService(task, (service) =>
    within(task, service, async (sql) => {
      const results: MonthResult[] = []
      for (const { month, events } of (await logMonths(sql)).filter(isSelected)) {
        const table = `${findSchema(service)}.${detachedName(month)}`
        await explained(work(sql, month, table))
        results.push({ service, month, table, events })
      }
      return results
    }),
  )
  return done.flat()
}

const session = (url: string, schema: string) =>
  openClient(url, {
    schema,
    max: 1,
    applicationName: `opsplane-${schema}-archive`,
    settings: { statement_timeout: '0', idle_in_transaction_session_timeout: '0' },
  })

async function within<T>(
  task: OpsTask,
  service: BackendName,
  work: (sql: Database['sql']) => Promise<T>,
): Promise<T> {
  const sql = session(await findDatabaseUrl(service, task.target.databaseUrl()), findSchema(service))
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LogMonthError) throw new OpsError('refused', error.message)
    throw error
  }
}
