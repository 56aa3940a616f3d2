import { type Cluster, type ClusterOptions, openState, startCluster } from '@opsplane/local'
import { limitTable } from '@opsplane/runtime'
import postgres from 'postgres'
import { endWithBench } from './ending.js'
import { observedLoops } from './limits/loop-delays.js'

const unlimited = Object.fromEntries(Object.keys(limitTable).map((name) => [name, 0]))

/**
 * Environment of the services: turns tenant limits off, because the bench measures the platform's capacity, and
 * enables reading event loop delays.
 */
export const withoutLimits = {
  RATE_LIMIT_PER_MINUTE: '0',
  CONNECTIONS_PER_ADDRESS: '0',
  LIMITS: JSON.stringify(unlimited),
  ...observedLoops,
}

/**
 * Settings that `docs/scaling.md` recommends for a server under load; the raw limits are measured on the same
 * server.
 */
const checkpoints = ['max_wal_size=4GB', 'min_wal_size=2GB', 'checkpoint_timeout=15min']

const postgresFlags = ['shared_preload_libraries=pg_stat_statements', ...checkpoints]

/** Starts a platform without limits on the state in a folder; stopped when the bench ends, if not before. */
export function startMeasured(
  folder: string,
  { extra, ...options }: Pick<ClusterOptions, 'metrics' | 'extra'> = {},
): Promise<Cluster> {
  const starting = startCluster({
    ...{ ...options, state: openState(folder), postgresFlags },
    extra: { ...withoutLimits, ...extra },
  })
  endWithBench(folder, async () => {
    const cluster = await starting.catch(() => undefined)
    await cluster?.stop()
  })
  return starting
}

/** Removes the webhooks of a measurement, so that the events of the next one are not delivered to them. */
export async function removeWebhooks(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    // By SQL, because some were created by SQL; triggers end their queued deliveries.
    await sql`delete from dispatcher.webhooks`
  } finally {
    await sql.end()
  }
}

/** 16 MB each: 1.5 GB. */
const walFiles = 96

/**
 * Makes the server recycle WAL files, as a server does after an hour of operation: on a new server every WAL file is
 * first filled with zeros by the commit that needs it.
 */
export async function fillWal(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    await sql`create table if not exists filling (at timestamptz)`
    for (let file = 0; file < walFiles; file++) {
      await sql`insert into filling values (now())`
      await sql`select pg_switch_wal()`
    }
    await sql`drop table filling`
    await sql`checkpoint`
  } finally {
    await sql.end()
  }
}
