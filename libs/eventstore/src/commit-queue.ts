import { ApiError, IdempotencyRaceError } from '@opsplane/contracts'
import { type Database, isDatabaseAway } from '@opsplane/postgres'
import {
  appendParameters,
  appendStatement,
  type CommitShape,
  committed,
  type Placed,
  shapeOf,
} from './append-statement.js'
import { type Commit, type CommittedEvent, claimsOf, reliancesOf } from './commit.js'
import { commitFailure, VersionRaceError } from './errors.js'
import type { LogMonths } from './log-months.js'

export interface CommitQueue {
  /**
   * Makes a commit durable. Throws VersionRaceError, IdempotencyRaceError, ApiError `conflict` (another unique
   * value) or `service_unavailable` (outcome unknown), each concerning this commit alone.
   */
  commit(commit: Commit): Promise<CommittedEvent[]>
}

export interface CommitQueueOptions {
  sql: Database['sql']
  months: LogMonths
  /** Most commits in one statement. */
  maxGroup?: number
  /** Most statements under way at once. */
  maxInFlight?: number
  /**
   * So many commits must wait for another statement to start beside one under way: flushes of the WAL take turns
   * anyway, and fewer, larger statements cost less.
   */
  worthAnother?: number
}

interface Waiting {
  commit: Commit
  claims: string[]
  reliances: string[]
  shape: CommitShape
  resolve(events: CommittedEvent[]): void
  reject(error: unknown): void
}

/**
 * Group commit: commits that arrive while a statement is under way share the next one. A group holds commits of
 * one shape that do not touch each other's aggregates, rows or keys, nor those of a group under way; so within
 * a process a race is seen here instead of failing a statement. Nor does a group write what one of it relies on.
 */
export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const { sql, months, maxGroup = 64, maxInFlight = 2, worthAnother = 16 } = options
  let queue: Waiting[] = []
  const claimed = new Set<string>()
  const statements = new Map<string, string>()
  let inFlight = 0
  let scheduled = false

  const execute = async (shape: CommitShape, commits: Commit[]) => {
    const text = statements.get(shape.key) ?? appendStatement(shape)
    statements.set(shape.key, text)
    await months.ensure(
      sql,
      commits.flatMap(({ events }) => events.map(({ id }) => id)),
    )
    return sql.unsafe<Placed[]>(text, appendParameters(shape, commits), { prepare: true })
  }

  function takeGroup(): Waiting[] {
    const group: Waiting[] = []
    const reliedOn = new Set<string>()
    const rest: Waiting[] = []
    for (const waiting of queue) {
      const [first = waiting] = group
      const fits =
        group.length < maxGroup &&
        first.shape.key === waiting.shape.key &&
        !waiting.claims.some((claim) => claimed.has(claim) || reliedOn.has(claim)) &&
        !waiting.reliances.some((claim) => claimed.has(claim))
      if (!fits) {
        rest.push(waiting)
        continue
      }
      for (const claim of waiting.claims) claimed.add(claim)
      for (const claim of waiting.reliances) reliedOn.add(claim)
      group.push(waiting)
    }
    queue = rest
    return group
  }

  async function run(group: Waiting[]): Promise<void> {
    const [first] = group
    if (!first) return
    try {
      const placed = await execute(
        first.shape,
        group.map((waiting) => waiting.commit),
      )
      for (const waiting of group) succeed(waiting, placed)
    } catch (error) {
      // One loser must not fail the others, so each is tried by itself.
      if (group.length > 1 && !isDatabaseAway(error)) for (const waiting of group) await runAlone(waiting)
      else for (const waiting of group) await fail(waiting, error)
    }
    for (const waiting of group) for (const claim of waiting.claims) claimed.delete(claim)
  }

  async function runAlone(waiting: Waiting): Promise<void> {
    try {
      succeed(waiting, await execute(waiting.shape, [waiting.commit]))
    } catch (error) {
      await fail(waiting, error)
    }
  }

  function succeed(winner: Waiting, placed: Placed[]) {
    winner.resolve(committed(winner.commit.events, placed))
    if (queue.length > 0) rejectLosersTo(winner.commit)
  }

  /** Whoever still waits with the same key or an aggregate's old version has lost, which needs no statement. */
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

  async function fail(loser: Waiting, error: unknown) {
    const failure = commitFailure(error)
    const raced = failure instanceof ApiError && failure.code === 'conflict' && (await isBehind(loser.commit))
    loser.reject(raced ? new VersionRaceError({ cause: error }) : failure)
  }

  /**
   * Whether an aggregate of the commit has changed meanwhile. Postgres may not see the row that another process is
   * just replacing, take the write for a new row, and complain of a unique value that is the row's own.
   */
  async function isBehind({ events }: Commit): Promise<boolean> {
    const later = events.filter(({ version }) => version > 1)
    if (later.length === 0) return false
    const parameters = [later.map(({ streamId }) => streamId), later.map(({ version }) => String(version))]
    const taken = await sql.unsafe(takenVersions, parameters, { prepare: true }).catch(() => [])
    return taken.length > 0
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
        const [claims, reliances] = [claimsOf(commit), reliancesOf(commit)]
        queue.push({ commit, claims, reliances, shape: shapeOf(commit), resolve, reject })
        if (scheduled || inFlight >= maxInFlight) return
        scheduled = true
        // After the requests that arrived in the same turn of the event loop, so that they share a statement.
        setImmediate(pump)
      }),
  }
}

const takenVersions = `
  select 1 from unnest($1::text[], $2::text[]) as t (id, v)
  join stream_heads h on h.stream_id = t.id and h.version >= t.v::int limit 1`
