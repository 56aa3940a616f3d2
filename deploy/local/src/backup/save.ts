import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { BackendName, natsNames } from '@opsplane/contracts'
import { type ConsumerHead, type NatsLink, objectStreamName, readConsumers, readStream } from '@opsplane/nats'
import {
  copyOut,
  type Database,
  type DumpedTable,
  fileDigest,
  quoteIdentifier,
  readSequences,
  readTables,
} from '@opsplane/postgres'
import { masterKeysInUse } from '../ops-keys.js'
import { explainDatabaseError, type Target, withNats } from '../ops-target.js'
import { backends } from '../services.js'
import { snapshotDatabases } from './cut.js'
import {
  findDatabases,
  migrationTables,
  readMigrationHashes,
  type ServiceDatabase,
  toSchemas,
} from './databases.js'
import { beginBackup, type NewBackup } from './folder.js'
import { recordBackup } from './last-backup.js'
import type { Manifest, SavedDatabase, SavedStream, SavedTable } from './manifest.js'

export interface BackupTask {
  target: Target
  /** Path of the backup; must not exist yet. */
  to: string
  /** Receives progress, in whole lines. */
  say?(line: string): void
}

export interface BackupResult {
  at: string
  seconds: number
  pausedMs: number
  events: number
  rows: number
  /** Size of the rows before compression. */
  plainBytes: number
  /** Size of all files. */
  bytes: number
}

/** A backup that is being made. */
interface Saving {
  folder: NewBackup
  files: Manifest['files']
  /** File numbers are never reused. */
  lastFile: number
  plainBytes: number
  say(line: string): void
}

/**
 * Copies all databases as of one instant, then the streams that cannot be rebuilt from them, while everything runs.
 * The backup gets its final name once it is complete. Throws OpsError.
 */
export async function backup({ target, to, say = () => {} }: BackupTask): Promise<BackupResult> {
  const startedAt = performance.now()
  const adminUrl = target.databaseUrl()
  const { url, names } = target.nats()
  return withNats(url, async (link) => {
    const folder = await beginBackup(to, ['rows', 'streams'])
    const saving: Saving = { folder, files: {}, lastFile: 0, plainBytes: 0, say }
    try {
      const manifest = await save(saving, { adminUrl, link, names })
      await folder.finish(manifest)
      await recordBackup(adminUrl, new Date())
      return resultOf(manifest, saving, (performance.now() - startedAt) / 1_000)
    } catch (error) {
      await folder.discard()
      throw explainDatabaseError(error, adminUrl)
    }
  })
}

function resultOf(manifest: Manifest, { plainBytes, files }: Saving, seconds: number): BackupResult {
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  const { at, pausedMs, databases } = manifest
  return {
    ...{ at, pausedMs, plainBytes, seconds: Math.round(seconds * 10) / 10 },
    events: sum(databases.flatMap(({ logs }) => logs.map(({ events }) => events))),
    rows: sum(databases.flatMap(({ tables }) => tables.map(({ rows }) => rows))),
    bytes: sum(Object.values(files).map(({ bytes }) => bytes)),
  }
}

interface Servers {
  adminUrl: string
  link: NatsLink
  names: ReturnType<typeof natsNames>
}

/**
 * Databases first: an object is in the bucket before a row refers to it, so copying the bucket afterwards includes
 * it.
 */
async function save(saving: Saving, { adminUrl, link, names }: Servers): Promise<Manifest> {
  const connection = await link.ready()
  const databases = await findDatabases(adminUrl)
  let consumers: ConsumerHead[] = []
  // Acknowledgements are read before the snapshot, so the effects of acknowledged messages are in the databases.
  const cut = await snapshotDatabases(databases, async () => {
    consumers = await readConsumers(connection, names.topicsStream)
  })
  try {
    saving.say(
      `all databases as of ${cut.at.toISOString()}; no event could be appended for ${cut.pausedMs} ms`,
    )
    const masterKeys = (await masterKeysInUse({ databaseUrl: adminUrl })).map(({ keyId }) => keyId)
    // In parallel: each has its own connection and its own server process.
    const saved = await allOf(
      databases.flatMap((database, at) => {
        const sql = cut.snapshots[at]
        return sql ? [saveDatabase(saving, database, sql)] : []
      }),
    )
    const streams: SavedStream[] = []
    for (const name of [names.topicsStream, objectStreamName(names.exportsBucket)]) {
      const stream = await saveStream(saving, link, name)
      if (stream) streams.push(stream)
    }
    return {
      ...{ format: 'opsplane-backup-1', at: cut.at.toISOString(), finishedAt: new Date().toISOString() },
      ...{ pausedMs: cut.pausedMs, masterKeys: [...new Set(masterKeys)], databases: saved },
      ...{ streams, consumers, files: saving.files },
    }
  } finally {
    await cut.close()
  }
}

/** Resolves with all results. Rejects only after all have settled, because their target folder is removed then. */
async function allOf<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}

async function saveDatabase(
  saving: Saving,
  { name, services }: ServiceDatabase,
  sql: Database['sql'],
): Promise<SavedDatabase> {
  const extraSchemas: SavedDatabase['beside'] = []
  const schemas = toSchemas(services)
  for (const service of services) {
    const found = await backends[service].extraSchemas?.describe(sql)
    if (!found) continue
    extraSchemas.push({ service, description: found.description })
    schemas.push(...found.schemas)
  }
  const found = await readTables(sql, schemas)
  const tables = found.filter((table) => !migrationTables.includes(table.name))
  const sequences = await readSequences(sql, schemas)
  const logs: SavedDatabase['logs'] = []
  for (const service of services) logs.push(await savedLog(sql, service))
  const [version] = await sql.unsafe<{ server_version: string }[]>('show server_version')
  return {
    ...{ name, postgresVersion: version?.server_version ?? '', logs, sequences, beside: extraSchemas },
    tables: await saveTables(saving, name, sql, tables),
  }
}

async function saveTables(saving: Saving, database: string, sql: Database['sql'], tables: DumpedTable[]) {
  const saved: SavedTable[] = []
  let reportedAt = performance.now()
  for (const table of tables) {
    const file = `rows/${++saving.lastFile}.copy.gz`
    const { rows, plainBytes, ...written } = await copyOut(sql, table, saving.folder.path(file))
    saving.files[file] = written
    saving.plainBytes += plainBytes
    saved.push({ ...table, file, rows })
    if (performance.now() - reportedAt < progressEveryMs) continue
    reportedAt = performance.now()
    saving.say(
      `${database}: ${saved.length} of ${tables.length} tables, ${Math.round(saving.plainBytes / 1e6)} MB`,
    )
  }
  saving.say(`${database}: ${saved.length} tables`)
  return saved
}

const progressEveryMs = 1_000

async function savedLog(sql: Database['sql'], service: BackendName) {
  const { schema } = backends[service]
  const [row] = await sql.unsafe<{ events: number; lastPosition: number; drawn: number }[]>(
    `select count(*)::float8 as events, coalesce(max(position), 0)::float8 as "lastPosition",
       (select case when is_called then last_value else 0 end from ${quoteIdentifier(schema)}.events_position_seq)::float8 as drawn
     from ${quoteIdentifier(schema)}.events`,
  )
  if (!row) throw new Error(`the log of ${schema} has no end`)
  return { service, schema, ...row, migrations: await readMigrationHashes(sql, schema) }
}

/** `undefined` if the stream does not exist. */
async function saveStream(saving: Saving, link: NatsLink, name: string): Promise<SavedStream | undefined> {
  const stream = await readStream(await link.ready(), name)
  if (!stream) return undefined
  const file = `streams/${++saving.lastFile}.snapshot`
  const digest = fileDigest()
  const target = createWriteStream(saving.folder.path(file), { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(stream.bytes, digest.through, target)
  saving.files[file] = digest.written()
  const { config, state } = stream.head
  saving.say(`${name}: ${state.messages} messages`)
  return { name, file, messages: state.messages, config: { ...config }, state: { ...state } }
}
