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
   * Makes a commit durable; returns its events with their log positions. Throws VersionRaceError,
   * IdempotencyRaceError, or ApiError `conflict` (another unique value), `version_conflict` (another transaction
   * held a lock on one of its rows for too long) or `service_unavailable` (outcome unknown). Each error concerns
   * this commit alone.
   */
  commit(commit: Commit): Promise<CommittedEvent[]>
}

interface CommitQueueOptions {
  sql: Database['sql']
  appender: Appender
  /** Maximum total time a commit waits for locked rows. */
  maxLockWaitMs?: number
}

interface Waiting {
  commit: Commit
  claims: string[]
  dependencies: string[]
  shape: CommitShape
  /** `performance.now()` when one of its rows was first found locked. */
  blockedAt?: number
  resolve(events: CommittedEvent[]): void
  reject(error: unknown): void
}

/** Maximum number of commits in one statement. */
const maxGroup = 64
/** Maximum number of concurrent statements, not counting those that wait for locks. */
const maxInFlight = 2
/**
 * Minimum number of waiting commits before a further statement starts while one is running: WAL flushes are
 * serialized anyway, and fewer, larger statements cost less.
 */
const worthAnother = 16
/** Maximum time a group waits for a rival's uncommitted unique value. */
const groupLockTimeoutMs = 200
/** How long a blocked commit may occupy its connection before another blocked commit gets it. */
const lockWaitMs = 1_000

/**
 * Group commit: commits that arrive while a statement is running share the next one. All commits of a group have
 * the same shape and touch none of each other's aggregates, rows or keys, nor those of a running group; so races
 * within a process are detected here instead of in the statement. No group writes a row that one of its commits
 * depends on.
 *
 * The statement returns the commits it did not write. A commit with a row that another transaction has locked
 * leaves the group and waits on its own, so that it delays only commits of the same aggregates.
 */
export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const { sql, appender, maxLockWaitMs = 10_000 } = options
  /** Maximum number of connections that wait for locked rows. */
  const maxLockWaits = Math.max(1, Math.floor(sql.options.max / 4))
  let queue: Waiting[] = []
  const blocked: Waiting[] = []
  const claimed = new Set<string>()
  let inFlight = 0
  let lockWaits = 0
  let scheduled = false

  function dequeueGroup(): Waiting[] {
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
      // The error does not name the commit that caused it, so each commit is retried on its own.
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

  /** A value a rival committed in the meantime fails this statement and is visible to the next one. */
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

  /** The commit keeps its claims: other commits of the same rows queue behind it. */
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

  /**
   * Rejects waiting commits with the same idempotency key or an outdated aggregate version: they have lost without a
   * statement.
   */
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
      const group = dequeueGroup()
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
        // Deferred until all requests of this event-loop turn have arrived, so that they share a statement.
        setImmediate(pump)
      }),
  }
}
