import { type Cluster, type ClusterOptions, openState, startCluster } from '@opsplane/local'
import { limitTable } from '@opsplane/runtime'
import postgres from 'postgres'
import { endWithBench } from './ending.js'
import { observedLoops } from './limits/loop-delays.js'

const unlimited = Object.fromEntries(Object.keys(limitTable).map((name) => [name, 0]))

/** Environment of services: what is measured is what the platform can do, not what a tenant may; and their loops can be asked. */
export const withoutLimits = {
  RATE_LIMIT_PER_MINUTE: '0',
  CONNECTIONS_PER_ADDRESS: '0',
  LIMITS: JSON.stringify(unlimited),
  ...observedLoops,
}

/** As `docs/scaling.md` has it for a server under load; the raw limits are measured on the same one. */
const checkpoints = ['max_wal_size=4GB', 'min_wal_size=2GB', 'checkpoint_timeout=15min']

const postgresFlags = ['shared_preload_libraries=pg_stat_statements', ...checkpoints]

/** Starts a platform on the state of a folder, without limits; it is stopped with the bench, if not before. */
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

/** Removes the webhooks that a measurement has made: the next one's events are not for them. */
export async function removeWebhooks(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    // By SQL, as some are made so; triggers end what is queued for them.
    await sql`delete from dispatcher.webhooks`
  } finally {
    await sql.end()
  }
}

/** Of 16 MB each: 1.5 GB. */
const walFiles = 96

/**
 * Has the server use WAL files again, as one does that has run for an hour: on a new one every file is written with zeros first,
 * by the commit that needs it.
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
