import { type Database, isLockTimeout } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import { OpsError } from '../ops-target.js'
import { openSession, type ServiceDatabase, toSchemas } from './databases.js'

/** Transactions on several databases that see them as of one instant. */
export interface Cut {
  at: Date
  /** For how long no event could be appended. */
  pausedMs: number
  /** Each one connection, in the order of the databases. */
  snapshots: Database['sql'][]
  close(): Promise<void>
}

/** Appends wait behind the lock while it waits for those before it: no longer than this at a time. */
const lockTimeoutMs = 500
const pauseMs = 250
const maxTries = 240

/**
 * Snapshots of all databases at an instant at which no append is in progress in any: each writer of a log holds its outbox, so
 * having all outboxes is being alone (ADR 097). `before` is called just before, while everything goes on.
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
    // Connected before any append has to wait.
    await Promise.all([...snapshots, ...holders].map((sql) => sql`select 1`))
    for (let tries = 1; ; tries++) {
      await before()
      const startedAt = performance.now()
      if (await holdOutboxes(holders, databases)) {
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

/** Whether all outboxes are held; none where one was not to be had in time. */
async function holdOutboxes(
  holders: Database['sql'][],
  databases: readonly ServiceDatabase[],
): Promise<boolean> {
  const held = await Promise.allSettled(
    holders.map((sql, at) => {
      const outboxes = toSchemas(databases[at]?.services ?? []).map((schema) => `${schema}.outbox`)
      return sql
        .unsafe(
          `begin; set local lock_timeout = ${lockTimeoutMs}; lock table ${outboxes.join(', ')} in share mode`,
        )
        .simple()
    }),
  )
  const failed = held.find((each) => each.status === 'rejected')
  if (!failed) return true
  await Promise.all(holders.map((sql) => sql.unsafe('rollback')))
  if (!isLockTimeout(failed.reason)) throw failed.reason
  return false
}

/** The snapshot is taken by the first query, not by the beginning. */
const beginSnapshot = (sql: Database['sql']) =>
  sql.unsafe('begin isolation level repeatable read, read only; select 1').simple()
