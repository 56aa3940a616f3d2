import type { BackendName } from '@opsplane/contracts'
import { DetachedMonthsError } from '@opsplane/eventstore'
import { connect, MasterKeyError, schemasWithDataKeys, verifyDataKeys } from '@opsplane/postgres'
import { createSealer } from '@opsplane/runtime'
import { findDatabaseUrl } from '../data-database.js'
import type { MasterKeys } from '../ops-keys.js'
import { OpsError } from '../ops-target.js'
import { backends } from '../services.js'
import { findDatabases, openSession } from './databases.js'
import type { Manifest, SavedDatabase } from './manifest.js'

/** Totals of the verification. */
export interface Proof {
  services: { service: BackendName; events: number; lastPosition: number }[]
  /** Rows of all tables. */
  rows: number
}

export interface ProofTask {
  adminUrl: string
  manifest: Manifest
  keys: MasterKeys
  say(line: string): void
}

/**
 * Verifies a restored installation before its services start: every table has the rows of the backup, every log ends
 * where it did, every data key can be unwrapped, the audit log is complete, and all read models match their logs
 * (unless months are detached). Throws OpsError that lists the problems.
 */
export async function proveRestored({ adminUrl, manifest, keys, say }: ProofTask): Promise<Proof> {
  const problems: string[] = []
  let rows = 0
  for (const { name, url } of await findDatabases(adminUrl)) {
    const saved = manifest.databases.find((database) => database.name === name)
    if (!saved) continue
    const sql = openSession(url, 'opsplane-proof')
    try {
      problems.push(...(await wrongCounts(sql, saved)))
    } finally {
      await sql.end({ timeout: 5 })
    }
    rows += saved.tables.reduce((sum, table) => sum + table.rows, 0)
  }
  say(`${rows} rows counted`)
  problems.push(...(await wrongKeys(adminUrl, keys)))
  const logs = manifest.databases.flatMap((database) => database.logs)
  for (const { service } of logs) {
    try {
      problems.push(
        ...(await backends[service].prove({ adminUrl: await findDatabaseUrl(service, adminUrl) })),
      )
      say(`${service}: read models compared with the log`)
    } catch (error) {
      if (!(error instanceof DetachedMonthsError)) throw error
      say(`${service}: read models not compared with the log, as ${error.months.join(', ')} are detached`)
    }
  }
  if (problems.length > 0)
    throw new OpsError('refused', `What was restored is not whole: ${problems.join('; ')}.`)
  return {
    rows,
    services: logs.map(({ service, events, lastPosition }) => ({ service, events, lastPosition })),
  }
}

async function wrongCounts(
  sql: ReturnType<typeof openSession>,
  { tables, logs }: SavedDatabase,
): Promise<string[]> {
  const problems: string[] = []
  for (const { schema, name, rows } of tables) {
    const [row] = await sql<
      { count: number }[]
    >`select count(*)::float8 as count from ${sql(schema)}.${sql(name)}`
    if (row?.count !== rows) problems.push(`${schema}.${name} has ${row?.count} rows instead of ${rows}`)
  }
  for (const { schema, events, lastPosition } of logs) {
    const [row] = await sql<{ events: number; last: number }[]>`
      select count(*)::float8 as events, coalesce(max(position), 0)::float8 as last from ${sql(schema)}.events`
    if (row?.events !== events || row.last !== lastPosition)
      problems.push(`the log of ${schema} ends at ${row?.last} instead of ${lastPosition}`)
  }
  return problems
}

async function wrongKeys(adminUrl: string, { present, previous }: MasterKeys): Promise<string[]> {
  const sealer = createSealer(present, previous)
  const within = async <T>(schema: string, work: (db: ReturnType<typeof connect>['db']) => Promise<T>) => {
    const database = connect(adminUrl, { schema, max: 1, applicationName: 'opsplane-proof' })
    try {
      return await work(database.db)
    } finally {
      await database.close()
    }
  }
  const problems: string[] = []
  for (const schema of await within('public', schemasWithDataKeys)) {
    try {
      await within(schema, (db) => verifyDataKeys(db, sealer))
    } catch (error) {
      if (!(error instanceof MasterKeyError)) throw error
      problems.push(error.message)
    }
  }
  return problems
}
