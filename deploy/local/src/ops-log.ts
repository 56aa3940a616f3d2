import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { auditedEvent, type BackendName, canonicalJson, type PlatformEvent } from '@opsplane/contracts'
import {
  attachMonth,
  detachMonth,
  type LogMonth,
  LogMonthError,
  logMonths,
  MonthFile,
  readMonthFile,
  UnknownOutcomeError,
} from '@opsplane/eventstore'
import { type Database, openClient } from '@opsplane/postgres'
import { verifyFile } from './backup/folder.js'
import { findDatabaseUrl } from './data-database.js'
import { OpsError } from './ops-target.js'
import { eachService, findSchema, type OpsTask } from './ops-tasks.js'

export interface ArchiveTask extends OpsTask {
  /** Of the files: `<schema>-<month>.copy.gz` and next to it `.json`, which describes its contents. */
  folder: string
}

/** A month that was moved, or looked at. */
export interface MonthResult {
  service: BackendName
  month: string
  events: number
  bytes: number
}

/** The months of each log, in the database and in files. Throws OpsError. */
export async function monthsOfLogs(task: OpsTask): Promise<({ service: BackendName } & LogMonth)[]> {
  const lists = await eachService(task, (service) =>
    within(task, service, async (sql) => (await logMonths(sql)).map((month) => ({ service, ...month }))),
  )
  return lists.flat()
}

/** So long ago a month has ended at least: streams and consumers are filled again from what is younger. */
const youngestDays = 31

/** Moves the months of each log before `before`, such as `2026-09`, to files. What one month has done stays done. Throws OpsError. */
export async function detachMonths(task: ArchiveTask & { before: string }): Promise<MonthResult[]> {
  const { before, folder, say } = task
  if (Date.parse(`${before}-01`) > Date.now() - youngestDays * 86_400_000)
    throw new OpsError(
      'refused',
      `Only months that ended ${youngestDays} days ago or longer can be detached.`,
    )
  await mkdir(resolve(folder), { recursive: true, mode: 0o700 })
  const done = await eachService(task, (service) =>
    within(task, service, async (sql) => {
      const schema = findSchema(service)
      const results: MonthResult[] = []
      for (const { month, isDetached, events } of await logMonths(sql)) {
        if (isDetached || events === 0 || month >= before) continue
        const { file, description } = filesOf(folder, schema, month)
        const keep = (written: MonthFile) =>
          writeFile(description, `${JSON.stringify(written, null, 1)}\n`, { mode: 0o600, flush: true })
        const written = await explained(detachMonth({ sql, schema, month, file, keep }))
        if (!written) continue
        say?.(`${service}: ${month} with ${written.events} events is in ${file}`)
        results.push({ service, month, events: written.events, bytes: written.bytes })
      }
      return results
    }),
  )
  return done.flat()
}

/** Puts the months that the folder has files of back into their logs. Throws OpsError. */
export function attachMonths(task: ArchiveTask): Promise<MonthResult[]> {
  return eachFile(task, async (sql, file, path) => {
    await explained(attachMonth(sql, file, path))
    task.say?.(`${file.schema}: ${file.month} is back`)
  })
}

/**
 * Reads the files of months that are detached, and compares every event in them with the audit log, whose chain and checkpoints say
 * that it is as it was. Throws OpsError that names the first that differs.
 */
export async function auditMonths(task: ArchiveTask): Promise<MonthResult[]> {
  const settings = session(await findDatabaseUrl('settings', task.target.databaseUrl()), 'settings')
  try {
    return await eachFile(task, async (sql, file, path) => {
      const [known] = await sql.unsafe(
        `select 1 from detached_months where month = $1::text::date and sha256 = $2`,
        [`${file.month}-01`, file.sha256],
      )
      if (!known) throw new OpsError('refused', `${path} is not the file that ${file.month} was detached to.`)
      let events = 0
      for await (const batch of readMonthFile(sql, file, path)) {
        await compareWithAudit(settings, batch, path)
        events += batch.length
      }
      if (events !== file.events)
        throw new OpsError('refused', `${path} has ${events} events instead of ${file.events}.`)
    })
  } finally {
    await settings.end({ timeout: 5 })
  }
}

async function compareWithAudit(sql: Database['sql'], events: PlatformEvent[], path: string): Promise<void> {
  const rows = await sql.unsafe<{ id: string; event: unknown }[]>(
    'select id, event from audit_log where id = any($1::text[])',
    [events.map(({ id }) => id)],
  )
  const audited = new Map(rows.map(({ id, event }) => [id, canonicalJson(event)]))
  for (const event of events) {
    // Entries from before show an event as it is in its log.
    const shown = [auditedEvent(event), event].map(canonicalJson)
    if (!shown.includes(audited.get(event.id) ?? ''))
      throw new OpsError('refused', `${event.id} in ${path} is not what the audit log has of it.`)
  }
}

const filesOf = (folder: string, schema: string, month: string) => {
  const name = join(resolve(folder), `${schema}-${month}`)
  return { file: `${name}.copy.gz`, description: `${name}.json` }
}

/** Each file of the services that are asked for, once its checksum was found to fit. */
async function eachFile(
  task: ArchiveTask,
  work: (sql: Database['sql'], file: MonthFile, path: string) => Promise<void>,
): Promise<MonthResult[]> {
  const names = existsSync(task.folder) ? await readdir(task.folder) : []
  const done = await eachService(task, (service) =>
    within(task, service, async (sql) => {
      const results: MonthResult[] = []
      const schema = findSchema(service)
      const own = names.filter((name) => name.startsWith(`${schema}-`) && name.endsWith('.json')).sort()
      for (const name of own) {
        const file = await readDescription(join(resolve(task.folder), name))
        const path = filesOf(task.folder, schema, file.month).file
        await verifyFile(path, file)
        await work(sql, file, path)
        results.push({ service, month: file.month, events: file.events, bytes: file.bytes })
      }
      return results
    }),
  )
  return done.flat()
}

async function readDescription(path: string): Promise<MonthFile> {
  const parsed = MonthFile.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (parsed.success) return parsed.data
  throw new OpsError('refused', `${path} does not describe a month of a log.`)
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
    if (error instanceof UnknownOutcomeError) throw new OpsError('away', error.message)
    throw error
  }
}
