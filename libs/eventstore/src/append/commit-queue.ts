import { IdempotencyRaceError } from '@opsplane/contracts'
import {
  type Database,
  isDatabaseUnavailable,
  isDeadlock,
  isLockTimeout,
  uniqueViolation,
} from '@opsplane/postgres'
import { commitFailure, VersionRaceError, verdictFailure, versionConflict } from '../errors.js'
import { type CommitShape, commitShape } from './append-statement.js'
import type { Appender, Outcome } from './appender.js'
import { type Commit, type CommittedEvent, dependencyKeys, exclusiveKeys } from './commit.js'

interface CommitQueue {
  /**
   * Makes a commit durable; returns its events with their places in the log. Throws VersionRaceError,
   * IdempotencyRaceError, ApiError `conflict` (another unique value), `version_conflict` (another transaction has locked a row of it
   * for too long) or `service_unavailable` (outcome unknown), each concerning this commit alone.
   */
  commit(commit: Commit): Promise<CommittedEvent[]>
}

interface CommitQueueOptions {
  sql: Database['sql']
  appender: Appender
  /** How long a commit waits for locked rows in all. */
  maxLockWaitMs?: number
}

interface Waiting {
  commit: Commit
  claims: string[]
  dependencies: string[]
  shape: CommitShape
  /** When a row of it was first found locked, by performance.now(). */
  blockedAt?: number
  resolve(events: CommittedEvent[]): void
  reject(error: unknown): void
}

/** Most commits in one statement. */
const maxGroup = 64
/** The maximum number of concurrent statements, without those that wait for locks. */
const maxInFlight = 2
/**
 * How many commits must wait for another statement to start next to a running one: flushes of the WAL take turns
 * anyway, and fewer, larger statements cost less.
 */
const worthAnother = 16
/** A rival's value that is not committed yet is waited for; a group does not wait longer for it than this. */
const groupLockTimeoutMs = 200
/** How long a blocked commit has its connection, before it is the turn of others that are blocked. */
const lockWaitMs = 1_000

/**
 * Group commit: commits that arrive while a statement is running share the next one. A group holds commits of
 * one shape that do not touch each other's aggregates, rows or keys, nor those of a running group; so within
 * a process a race is seen here instead of in the statement. Nor does a group write what one of it relies on.
 *
 * The statement returns which commits it has not written. A commit with a row that another transaction has locked leaves the
 * groups and waits by itself, so that nothing but its own aggregates waits for it.
 */
export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const { sql, appender, maxLockWaitMs = 10_000 } = options
  /** The maximum number of connections that wait for locked rows. */
  const maxLockWaits = Math.max(1, Math.floor(sql.options.max / 4))
  let queue: Waiting[] = []
  const blocked: Waiting[] = []
  const claimed = new Set<string>()
  let inFlight = 0
  let lockWaits = 0
  let scheduled = false

  function takeGroup(): Waiting[] {
    const group: Waiting[] = []
    const dependedOn = new Set<string>()
    const rest: Waiting[] = []
    for (const waiting of queue) {
      const [first = waiting] = group
      const fits =
        group.length < maxGroup &&
        first.shape.key === waiting.shape.key &&
        !waiting.claims.some((claim) => claimed.has(claim) || dependedOn.has(claim)) &&
        !waiting.dependencies.some((claim) => claimed.has(claim))
      if (!fits) {
        rest.push(waiting)
        continue
      }
      for (const claim of waiting.claims) claimed.add(claim)
      for (const claim of waiting.dependencies) dependedOn.add(claim)
      group.push(waiting)
    }
    queue = rest
    return group
  }

  async function run(group: readonly Waiting[]): Promise<void> {
    try {
      await attempt(group, { waits: false, lockTimeoutMs: groupLockTimeoutMs })
    } catch (error) {
      // Which commit was at fault is unknown, so each is tried by itself.
      if (group.length > 1 && !isDatabaseUnavailable(error)) for (const waiting of group) await run([waiting])
      else for (const waiting of group) fail(waiting, error)
    }
  }

  async function runBlocked(waiting: Waiting): Promise<void> {
    try {
      await attempt([waiting], { waits: true, lockTimeoutMs: lockWaitMs })
    } catch (error) {
      fail(waiting, error)
    }
  }

  /** What a rival has committed meanwhile fails the statement, and is seen by the next. */
  async function attempt(group: readonly Waiting[], locks: Parameters<Appender['append']>[3]): Promise<void> {
    const [first] = group
    if (!first) return
    const append = () =>
      appender.append(
        sql,
        first.shape,
        group.map(({ commit }) => commit),
        locks,
      )
    const outcomes = await append().catch((error: unknown) => {
      if (uniqueViolation(error) === undefined && !isDeadlock(error)) throw error
      return append()
    })
    for (const [n, waiting] of group.entries()) settle(waiting, outcomes[n])
  }

  function settle(waiting: Waiting, outcome: Outcome | undefined): void {
    if (!outcome) throw new Error('a commit has no outcome')
    if ('events' in outcome) {
      release(waiting)
      waiting.resolve(outcome.events)
      if (queue.length > 0) rejectLosersTo(waiting.commit)
    } else if (outcome.verdict === 'blocked') block(waiting)
    else if (outcome.verdict === 'later') {
      release(waiting)
      queue.unshift(waiting)
    } else reject(waiting, verdictFailure(outcome.verdict))
  }

  function fail(waiting: Waiting, error: unknown): void {
    if (isLockTimeout(error)) block(waiting)
    else reject(waiting, commitFailure(error))
  }

  function reject(waiting: Waiting, error: unknown): void {
    release(waiting)
    waiting.reject(error)
  }

  /** It keeps its claims: other commits of its rows queue behind it. */
  function block(waiting: Waiting): void {
    waiting.blockedAt ??= performance.now()
    if (performance.now() - waiting.blockedAt < maxLockWaitMs) {
      blocked.push(waiting)
      waitForLocks()
    } else reject(waiting, versionConflict())
  }

  function waitForLocks(): void {
    while (lockWaits < maxLockWaits) {
      const waiting = blocked.shift()
      if (!waiting) return
      lockWaits++
      void runBlocked(waiting).finally(() => {
        lockWaits--
        waitForLocks()
        pump()
      })
    }
  }

  function release({ claims }: Waiting): void {
    for (const claim of claims) claimed.delete(claim)
  }

  /** Waiting commits with the same key or an aggregate's old version have lost, which needs no statement. */
  function rejectLosersTo({ events, idempotency }: Commit) {
    const versions = new Map(events.map((event) => [event.streamId, event.version]))
    queue = queue.filter(({ commit, reject }) => {
      if (idempotency && commit.idempotency?.key === idempotency.key) {
        reject(new IdempotencyRaceError())
        return false
      }
      if (commit.events.some((event) => event.version <= (versions.get(event.streamId) ?? 0))) {
        reject(new VersionRaceError())
        return false
      }
      return true
    })
  }

  function pump() {
    scheduled = false
    while (inFlight < maxInFlight && queue.length >= (inFlight === 0 ? 1 : worthAnother)) {
      const group = takeGroup()
      if (group.length === 0) return
      inFlight++
      void run(group).finally(() => {
        inFlight--
        pump()
      })
    }
  }

  return {
    commit: (commit) =>
      new Promise((resolve, reject) => {
        const [claims, dependencies] = [exclusiveKeys(commit), dependencyKeys(commit)]
        queue.push({ commit, claims, dependencies, shape: commitShape(commit), resolve, reject })
        if (scheduled || inFlight >= maxInFlight) return
        scheduled = true
        // After the requests that arrived in the same turn of the event loop, so that they share a statement.
        setImmediate(pump)
      }),
  }
}
