import {
  type CommandMeta,
  type Decider,
  type EventCatalog,
  eventCatalog,
  newId,
  notFound,
  storedState,
} from '@opsplane/contracts'
import type { IdempotencyStore } from '@opsplane/http'
import { afterCommit, type Database, type StatementRunner } from '@opsplane/postgres'
import { createKeyedSemaphore } from '@opsplane/runtime'
import { inSpan, traceparentOfCause } from '@opsplane/telemetry'
import type { Aggregate } from './aggregate.js'
import { commitShape } from './append/append-statement.js'
import { createAppender } from './append/appender.js'
import type { Commit, CommittedEvent, IdempotencyRow } from './append/commit.js'
import { createCommitQueue } from './append/commit-queue.js'
import { checkEvents } from './append/event-check.js'
import { checkSizes } from './append/event-size.js'
import { createIdempotencyStore } from './append/idempotency.js'
import { createNumbers, type Numbers } from './append/numbers.js'
import { responseColumns } from './append/response-columns.js'
import {
  commitFailure,
  DependencyChangedError,
  VersionRaceError,
  verdictFailure,
  versionConflict,
} from './errors.js'
import { createSnapshots } from './snapshots.js'
import { createDraft, preconditionFailed, type Unit } from './unit.js'

export interface EventStoreOptions {
  database: Database
  /** Called after each commit that appended events, with those events. */
  onCommit?: (events: readonly CommittedEvent[]) => void
  /** Called after the commit of each caller's transaction in which `within` appended events. */
  onCommitWithin?: () => void
  /**
   * A commit with an event that violates its declaration here fails. Defaults to the platform's events if NODE_ENV
   * is `test`.
   */
  checkedAgainst?: EventCatalog
  /** Creates event ids; by default from this process's clock. */
  eventId?: () => string
  /** Maximum time a commit waits for locked rows. */
  maxLockWaitMs?: number
}

export interface EventStore {
  /** Without `present`, a resource is the exposed state and its version. */
  aggregate<State extends { id: string }, Command, Resource extends object>(
    decider: Decider<State, Command, Resource>,
  ): Aggregate<State, Command, Resource & { version: number }>
  aggregate<State extends { id: string }, Command, Resource, Presented>(
    decider: Decider<State, Command, Resource>,
    options: { present(state: State, version: number): Presented },
  ): Aggregate<State, Command, Presented>
  /**
   * Runs `work` and commits all its decisions atomically, together with the response to the request's
   * Idempotency-Key. `work` is repeated after a lost race, so it must have no effects besides those of the unit.
   * Resolves to its result. Throws `precondition_failed`, `version_conflict`, `conflict`, `payload_too_large` if an
   * event would not fit into a message, or IdempotencyRaceError.
   */
  transact<T>(meta: CommandMeta, work: (unit: Unit) => Promise<T>, options?: TransactOptions): Promise<T>
  /**
   * Decides within the caller's postgres.js transaction, for decisions that must commit together with the caller's
   * own rows. Created aggregates must have new ids. A lost race is a VersionRaceError and fails the transaction: the
   * caller must repeat all of it. Reported to `onCommitWithin`, whichever code commits the transaction.
   */
  within<T>(tx: StatementRunner, meta: CommandMeta, work: (unit: Unit) => Promise<T>): Promise<T>
  numbers: Numbers
  idempotency: IdempotencyStore
}

interface TransactOptions {
  /**
   * Id of the aggregate, or of several, that many callers may change concurrently. Callers with a common id run one
   * after the other within this process, so they do not lose races against each other.
   */
  queueKey?: string | readonly string[]
}

const maxRedecisions = 3

export function createEventStore(options: EventStoreOptions): EventStore {
  const { database, onCommit, onCommitWithin, eventId = () => newId('event') } = options
  const catalog = options.checkedAgainst ?? (process.env.NODE_ENV === 'test' ? eventCatalog : undefined)
  // These reads are as short as the writes, and are executed during transactions of the other pools.
  const snapshots = createSnapshots(database.planned)
  const appender = createAppender()
  const commits = createCommitQueue({
    sql: database.planned,
    appender,
    ...(options.maxLockWaitMs !== undefined && { maxLockWaitMs: options.maxLockWaitMs }),
  })
  const idempotency = createIdempotencyStore(database.sql)
  const queues = createKeyedSemaphore(1)

  const transact: EventStore['transact'] = (meta, work, { queueKey = [] } = {}) => {
    // All transactions lock them in the same order, so that there are no deadlocks.
    const ids = [...new Set([queueKey].flat())].sort()
    return ids.reduceRight(
      (next, id) => () => queues(id, next),
      () => attempt(meta, work),
    )()
  }

  async function attempt<T>(meta: CommandMeta, work: (unit: Unit) => Promise<T>): Promise<T> {
    for (let redecisions = 0; ; redecisions++) {
      const draft = createDraft({ snapshots, meta, checkExists: redecisions > 0, eventId })
      const result = await work(draft.unit)
      const commit = { ...draft.commit(), idempotency: idempotencyRow(meta, result) }
      checkSizes(commit.events, meta.actor)
      if (catalog) checkEvents(catalog, commit.events)
      try {
        await write(commit, meta)
        return result
      } catch (error) {
        if (!(error instanceof VersionRaceError)) throw error
        if (draft.checkedVersion() && !(error instanceof DependencyChangedError)) throw preconditionFailed()
        if (redecisions >= maxRedecisions) throw versionConflict()
      }
    }
  }

  const within: EventStore['within'] = async (tx, meta, work) => {
    const draft = createDraft({ snapshots: createSnapshots(tx), meta, checkExists: false, eventId })
    const result = await work(draft.unit)
    const commit = draft.commit()
    if (commit.events.length === 0) return result
    checkSizes(commit.events, meta.actor)
    if (catalog) checkEvents(catalog, commit.events)
    const appending = appender.append(tx, commitShape(commit), [commit], { waits: true })
    const [outcome] = await appending.catch((error: unknown) => {
      throw commitFailure(error)
    })
    if (outcome && 'verdict' in outcome) throw verdictFailure(outcome.verdict)
    if (onCommitWithin) afterCommit(tx, onCommitWithin)
    return result
  }

  async function write(commit: Commit, { traceparent, causationId }: CommandMeta): Promise<void> {
    if (commit.events.length === 0 && !commit.idempotency) return
    const events = await inSpan('append events', traceparent ?? traceparentOfCause(causationId), () =>
      commits.commit(commit),
    )
    if (events.length > 0) onCommit?.(events)
  }

  function aggregate<State extends { id: string }, Command, Resource, Presented>(
    decider: Decider<State, Command, Resource>,
    options?: { present(state: State, version: number): Presented },
  ) {
    const present =
      options?.present ?? ((state: State, version: number) => ({ ...decider.expose(state), version }))
    const self: Aggregate<State, Command, unknown> = {
      definition: { decider, present },
      create: (id, command, meta) => transact(meta, (unit) => unit.create(self, id, command)),
      handle: (id, command, meta) =>
        transact(meta, (unit) => unit.handle(self, id, command), { queueKey: id }),
      find: async (id, tenant, instant) => {
        const row = await (instant === undefined
          ? snapshots.load(decider.table, id, tenant)
          : snapshots.loadAsOf(decider.table, id, tenant, instant))
        return row ? { state: storedState(decider, row.state), version: row.version } : null
      },
      get: (id, tenant) => self.asOf(id, tenant, undefined),
      asOf: async (id, tenant, instant) => {
        const row = await self.find(id, tenant, instant)
        if (!row) throw notFound()
        return present(row.state, row.version)
      },
      present: ({ state, version }) => present(storedState(decider, state), version),
    }
    return self
  }

  return {
    // The overloads declare the result of `present`; the implementation is the same for both.
    aggregate: aggregate as EventStore['aggregate'],
    transact,
    within,
    numbers: createNumbers(database.planned),
    idempotency,
  }
}

function idempotencyRow(meta: CommandMeta, result: unknown): IdempotencyRow | undefined {
  if (!meta.idempotency) return undefined
  const { key, fingerprint, respond } = meta.idempotency
  return { key, fingerprint, ...responseColumns(respond(result)) }
}
