import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import { isLongTier, parseServerUrl, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import type { CreateLoad, Victim } from './crash-load.js'
import { clientTimeoutMs } from './event-trail.js'
import type { startTestCluster } from './platform.js'

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>

/** Faults of a platform under load, by name: a part is killed, loses its data, or stops working. */
export function createFaults(
  cluster: TestCluster,
  load: CreateLoad,
  random: () => number,
): Record<string, Victim> {
  const { itsm, settings, dispatcher, gateway } = cluster.services
  const { nats, postgres: database } = cluster
  return {
    ...{ itsm, dispatcher, settings, gateway, nats, postgres: database },
    'the stream deleted': streamFault(cluster, (manager, stream) => manager.streams.delete(stream)),
    'the stream purged': streamFault(cluster, (manager, stream) => manager.streams.purge(stream)),
    "NATS's store set back": storeSetBack(cluster, load),
    'NATS restarted': { kill: () => nats.stop(), start: () => nats.start() },
    'Postgres restarted': { kill: () => database.stop(), start: () => database.start() },
    'Postgres read-only': readOnly(cluster, load),
    'rows locked': lockedRows(cluster, load),
    'connections cut': {
      async kill() {
        const services = ['itsm', 'settings', 'dispatcher']
        await cut(cluster, [services[Math.floor(random() * services.length)] ?? ''])
      },
      start: async () => {},
    },
  }
}

/** Waits until more incidents have been created. */
async function progress(load: CreateLoad, more = isLongTier() ? 10 : 4): Promise<void> {
  const before = load.acknowledged.size
  await waitFor(() => load.acknowledged.size >= before + more, {
    message: `creates to go on; the last answer was ${load.lastAnswer()}`,
  })
}

function streamFault(
  { info }: TestCluster,
  harm: (manager: JetStreamManager, stream: string) => Promise<unknown>,
): Victim {
  return {
    async kill() {
      const connection = await connect(parseServerUrl(info.natsUrl))
      const manager = await jetstreamManager(connection, { timeout: clientTimeoutMs })
      const stream = natsNames().eventsStream
      try {
        // A lost stream is created again by the platform without intervention.
        await waitFor(() => manager.streams.info(stream).catch(() => undefined), {
          message: 'the stream to be there',
        })
        await harm(manager, stream)
      } finally {
        await connection.close()
      }
    },
    start: async () => {},
  }
}

/** Simulates the loss of a disk: the server starts with an older copy of its data. */
function storeSetBack({ nats, folder }: TestCluster, load: CreateLoad): Victim {
  const store = join(folder, 'nats', 'jetstream')
  return {
    async kill() {
      const copies = mkdtempSync(join(tmpdir(), 'opsplane-store-'))
      await nats.stop()
      cpSync(store, copies, { recursive: true })
      await nats.start()
      await progress(load)
      await nats.stop()
      rmSync(store, { recursive: true })
      cpSync(copies, store, { recursive: true })
      rmSync(copies, { recursive: true })
    },
    start: () => nats.start(),
  }
}

/** Uses a session that may write, whatever the database's default. */
async function asAdmin({ info }: TestCluster, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(info.postgresUrl, { max: 1 })
  try {
    await sql`set default_transaction_read_only = off`
    await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Closes all connections of these services. */
async function cut(cluster: TestCluster, services = ['itsm', 'settings', 'dispatcher']): Promise<void> {
  await asAdmin(
    cluster,
    (sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity
      where usename in (select opsplane.role_name(service) from unnest(${services}::text[]) service)`,
  )
}

/** Simulates a failover to a replica that is not promoted yet, and its promotion. */
function readOnly(cluster: TestCluster, load: CreateLoad): Victim {
  const set = (value: string) =>
    asAdmin(cluster, (sql) =>
      sql.unsafe(`alter database postgres set default_transaction_read_only = ${value}`),
    )
  return {
    async kill() {
      const before = load.refused()
      await set('on')
      await cut(cluster)
      await waitFor(() => load.refused() > before, {
        message: `a create to be refused; the last answer was ${load.lastAnswer()}`,
      })
    },
    async start() {
      await set('off')
      await cut(cluster)
    },
  }
}

/** Another transaction locks frequently used rows; everything that needs other rows continues. */
function lockedRows(cluster: TestCluster, load: CreateLoad): Victim {
  return {
    kill: () =>
      asAdmin(cluster, (sql) =>
        sql.begin(async (tx) => {
          await tx`select from itsm.incidents where id = ${[...load.acknowledged.values()].at(-1) ?? ''} for update`
          await tx`select from settings.audit_heads for update`
          await tx`select from dispatcher.webhooks for update`
          await progress(load)
        }),
      ),
    start: async () => {},
  }
}
