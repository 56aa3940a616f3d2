import { createReadStream } from 'node:fs'
import { join, resolve } from 'node:path'
import type { NatsNames } from '@opsplane/contracts'
import {
  countMessages,
  deleteStream,
  formatOwnedDescription,
  type NatsLink,
  objectStreamName,
  StreamBackupError,
  writeConsumer,
  writeStream,
} from '@opsplane/nats'
import { type Database, findInstallation, relationExists } from '@opsplane/postgres'
import { z } from 'zod'
import { withAdmin } from '../data-database.js'
import { type MasterKeys, toKeyIds } from '../ops-keys.js'
import { explainDatabaseError, OpsError, type Target, withNats } from '../ops-target.js'
import { findDatabases, openSession, type ServiceDatabase, toSchemas } from './databases.js'
import { readManifest, verifyFiles } from './folder.js'
import { fillDatabase } from './load.js'
import type { Manifest, SavedStream } from './manifest.js'
import { type Proof, proveRestored } from './proof.js'

export interface RestoreTask {
  target: Target
  from: string
  keys: MasterKeys
  /** Replaces the existing data of the installation. */
  force?: boolean
  /** Replicas of the streams, if the new NATS cluster has a different number of servers. */
  replicas?: number
  say?(line: string): void
}

export interface RestoreResult extends Proof {
  /** The instant of the backup. */
  at: string
  seconds: number
  bytes: number
}

/**
 * Restores a backup into an installation that is migrated and empty. All databases are filled before the first is
 * committed, and none is committed if anything does not match. Ends with a proof that nothing is missing. Throws
 * OpsError.
 */
export async function restore(task: RestoreTask): Promise<RestoreResult> {
  const { target, from, keys, say = () => {} } = task
  const startedAt = performance.now()
  const manifest = await readManifest(from)
  checkMasterKeys(manifest, keys)
  const { bytes } = await verifyFiles(from, manifest)
  say(
    `backup of ${manifest.at}: ${Object.keys(manifest.files).length} files, ${bytes} bytes, all as they were written`,
  )
  const adminUrl = target.databaseUrl()
  const { url, names } = target.nats()
  try {
    await withNats(url, async (link) => {
      refuseOtherNames(manifest, names)
      await refuseUnlessEmpty({ adminUrl, link, names, force: task.force ?? false })
      await fill(task, { adminUrl, link, names, manifest })
    })
    const proof = await proveRestored({ adminUrl, manifest, keys, say })
    return {
      at: manifest.at,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      bytes,
      ...proof,
    }
  } catch (error) {
    if (error instanceof StreamBackupError) throw new OpsError('refused', error.message)
    throw explainDatabaseError(error, adminUrl)
  }
}

/** Checked before anything is changed: the encrypted values of the backup must be readable afterwards. */
function checkMasterKeys({ masterKeys }: Manifest, keys: MasterKeys): void {
  const { keyId, previousKeyIds } = toKeyIds(keys)
  const missing = masterKeys.filter((id) => id !== keyId && !previousKeyIds.includes(id))
  if (missing.length === 0) return
  throw new OpsError(
    'refused',
    `The backup is sealed under master key ${missing.join(', ')}; given ${previousKeyIds.length > 0 ? 'are' : 'is'} ` +
      `${[keyId, ...previousKeyIds].join(', ')}. Give the key that the services had, in OPSPLANE_MASTER_KEY or ` +
      'OPSPLANE_PREVIOUS_MASTER_KEYS. Nothing was changed.',
  )
}

interface Place {
  adminUrl: string
  link: NatsLink
  names: NatsNames
}

const streamsOf = (names: NatsNames) => [
  names.eventsStream,
  names.topicsStream,
  objectStreamName(names.exportsBucket),
]

/** Throws OpsError if the backup has streams with names of another installation: the server cannot rename streams. */
function refuseOtherNames({ streams }: Manifest, names: NatsNames): void {
  const other = streams.find(({ name }) => !streamsOf(names).includes(name))
  if (!other) return
  throw new OpsError(
    'refused',
    `The backup has the stream ${other.name}, and this installation calls its streams ${streamsOf(names).join(', ')}. Restore it with ` +
      'the NATS_PREFIX that it was made with, on a NATS server or account of its own.',
  )
}

/**
 * Throws OpsError if a service is connected, or if data exists that the restore would replace, unless `force` is
 * set.
 */
async function refuseUnlessEmpty({
  adminUrl,
  link,
  names,
  force,
}: Place & { force: boolean }): Promise<void> {
  for (const database of await findDatabases(adminUrl)) {
    const sql = openSession(database.url, 'opsplane-restore')
    try {
      await refuseUnlessFree(sql, database, force)
    } finally {
      await sql.end({ timeout: 5 })
    }
  }
  if (force) return
  const connection = await link.ready()
  for (const stream of streamsOf(names)) {
    if ((await countMessages(connection, stream)) ?? 0)
      throw new OpsError('refused', `The stream ${stream} has messages already. ${emptyOnly}`)
  }
}

const emptyOnly = 'A backup is restored into an empty installation; --force replaces what there is.'

/** Throws OpsError if a service is connected to a database. */
export async function refuseConnected(sql: Database['sql'], { services }: ServiceDatabase): Promise<void> {
  const connected = await sql<{ name: string }[]>`
    select distinct service as name from pg_stat_activity join unnest(${toSchemas(services)}::text[]) service
      on usename = opsplane.role_name(service)
    where datname = current_database() order by 1`
  if (connected.length === 0) return
  const names = connected.map(({ name }) => name).join(', ')
  throw new OpsError('refused', `Services are connected (${names}): stop all of them first.`)
}

async function refuseUnlessFree(sql: Database['sql'], database: ServiceDatabase, force: boolean) {
  await refuseConnected(sql, database)
  for (const schema of toSchemas(database.services)) {
    if (force || !(await relationExists(sql, `${schema}.events`))) continue
    const [row] = await sql.unsafe<{ used: boolean }[]>(
      `select exists (select from ${schema}.events) as used`,
    )
    if (row?.used) throw new OpsError('refused', `${schema} has events already. ${emptyOnly}`)
  }
}

async function fill(task: RestoreTask, { adminUrl, link, names, manifest }: Place & { manifest: Manifest }) {
  const print = task.say ?? (() => {})
  const folder = resolve(task.from)
  const databases = await findDatabases(adminUrl)
  const sessions: Database['sql'][] = []
  try {
    for (const saved of manifest.databases) {
      const database = databases.find(({ name }) => name === saved.name)
      if (!database)
        throw new OpsError(
          'refused',
          `The backup has a database ${saved.name}, which this installation has not.`,
        )
      const sql = openSession(database.url, 'opsplane-restore')
      sessions.push(sql)
      await fillDatabase(sql, { folder, saved, say: print })
    }
    await fillStreams(task, { link, names, manifest })
    for (const sql of sessions) await sql.unsafe('commit')
    print('all databases are committed')
  } finally {
    await Promise.all(sessions.map((sql) => sql.end({ timeout: 5 })))
  }
}

/** The services refill the event stream from their logs. */
async function fillStreams(
  task: RestoreTask,
  { link, names, manifest }: Omit<Place, 'adminUrl'> & { manifest: Manifest },
) {
  const connection = await link.ready()
  for (const stream of streamsOf(names)) await deleteStream(connection, stream)
  const { id } = await withAdmin(task.target.databaseUrl(), (sql) => findInstallation(sql))
  for (const { name, file, config, state, messages } of manifest.streams) {
    const replicas = task.replicas === undefined ? {} : { num_replicas: task.replicas }
    const { description } = z.object({ description: z.string().optional() }).parse(config)
    const owner = name === names.topicsStream ? { description: formatOwnedDescription(description, id) } : {}
    await writeStream(
      connection,
      {
        config: { ...config, name, ...replicas, ...owner },
        state: state as SavedState,
      },
      createReadStream(join(resolve(task.from), file)),
    )
    const restored = await countMessages(connection, name)
    task.say?.(`${name}: ${restored} messages of ${messages}`)
  }
  for (const consumer of manifest.consumers) await writeConsumer(connection, consumer)
}

type SavedState = Parameters<typeof writeStream>[1]['state'] & SavedStream['state']
