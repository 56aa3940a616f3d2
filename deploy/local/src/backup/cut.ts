import { type Database, isLockTimeout } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import { OpsError } from '../ops-target.js'
import { openSession, type ServiceDatabase, toSchemas } from './databases.js'

/** Transactions on several databases whose snapshots are of the same instant. */
export interface Cut {
  at: Date
  /** Time during which no event could be appended, in ms. */
  pausedMs: number
  /** One connection for each database, in the order of the databases. */
  snapshots: Database['sql'][]
  close(): Promise<void>
}

/**
 * Limit of one wait for the locks, in ms: appends queue behind the lock request while it waits for appends in
 * progress.
 */
const lockTimeoutMs = 500
const pauseMs = 250
const maxTries = 240

/**
 * Takes snapshots of all databases at an instant at which no append is in progress in any of them: each writer of a
 * log locks its outbox, so locking all outboxes excludes all writers (ADR 097). `before` is called just before,
 * while appends continue.
 */
export async function snapshotDatabases(
  databases: readonly ServiceDatabase[],
  before: () => Promise<void>,
): Promise<Cut> {
  const snapshots = databases.map(({ url }) => openSession(url, 'opsplane-backup'))
  const holders = databases.map(({ url }) => openSession(url, 'opsplane-backup-cut'))
  const end = async (sessions: Database['sql'][]) => {
    await Promise.all(sessions.map((sql) => sql.end({ timeout: 5 })))
  }
  try {
    // Connects before any append has to wait.
    await Promise.all([...snapshots, ...holders].map((sql) => sql`select 1`))
    for (let tries = 1; ; tries++) {
      await before()
      const startedAt = performance.now()
      if (await lockOutboxes(holders, databases)) {
        await Promise.all(snapshots.map(beginSnapshot))
        const at = new Date()
        await Promise.all(holders.map((sql) => sql.unsafe('rollback')))
        const pausedMs = Math.round(performance.now() - startedAt)
        await end(holders)
        return { at, pausedMs, snapshots, close: () => end(snapshots) }
      }
      if (tries === maxTries)
        throw new OpsError('away', 'An append that takes long is always in progress. Try again later.')
      await delay(pauseMs)
    }
  } catch (error) {
    await end([...snapshots, ...holders])
    throw error
  }
}

/** Whether all outboxes are locked; releases all locks if one could not be acquired in time. */
async function lockOutboxes(
  holders: Database['sql'][],
  databases: readonly ServiceDatabase[],
): Promise<boolean> {
  const lockResults = await Promise.allSettled(
    holders.map((sql, at) => {
      const outboxes = toSchemas(databases[at]?.services ?? []).map((schema) => `${schema}.outbox`)
      return sql
        .unsafe(
          `begin; set local lock_timeout = ${lockTimeoutMs}; lock table ${outboxes.join(', ')} in share mode`,
        )
        .simple()
    }),
  )
  const failed = lockResults.find((each) => each.status === 'rejected')
  if (!failed) return true
  await Promise.all(holders.map((sql) => sql.unsafe('rollback')))
  if (!isLockTimeout(failed.reason)) throw failed.reason
  return false
}

/** The snapshot is taken by the first query, not by BEGIN. */
const beginSnapshot = (sql: Database['sql']) =>
  sql.unsafe('begin isolation level repeatable read, read only; select 1').simple()
