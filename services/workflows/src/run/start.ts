import { type Actor, idFactory, idTime, type TenantScope } from '@opsplane/contracts'
import type { ChangedSignals } from '@opsplane/nats'
import type { Database, StatementRunner } from '@opsplane/postgres'
import { traceparentOfCause } from '@opsplane/telemetry'
import type { Program } from '../engine/program.js'
import type { DatabaseClock } from './clock.js'
import { admitRun, type KeyedLimit } from './concurrency/admission.js'
import type { Evaluate } from './evaluate.js'
import type { LogPositions } from './event-wait/accepted-event.js'
import { foldRun } from './folded-run.js'
import { formatJournalLine } from './journal-lines.js'
import type { ClaimedRun, Origin, Parent, RunCaller, RunIdentity, RunProgress } from './model.js'
import type { Programs } from './programs.js'
import { buildEventRows, draftRunEvents } from './run-events.js'
import type { Runner } from './runner.js'
import { type EagerStart, startEagerly } from './start-eagerly.js'
import type { NewRun } from './store/start-statement.js'
import type { RunStore } from './store/store.js'

/** What is to be run, and why. */
export interface StartRequest {
  tenant: TenantScope
  workflow: { id: string; name: string; version: number; programRef: string }
  trigger: { type: string; id: string | null; at: string }
  /** Of a workflow only one run has it; null: as many as one likes. */
  triggerKey: string | null
  event: unknown
  input: unknown
  parent?: Parent & { waits: boolean }
  /** What the run may wait for was accepted after this; where it is not given, logs are asked for their ends. */
  since?: LogPositions
  /** Runs that were caused by runs, up to this one; 0 without. */
  depth?: number
  /** People who ask for it. */
  callers?: RunCaller[] | undefined
  actor: Actor
  requestId: string | null
  causationId: string | null
  /** Of the span that requests it, where it is traced. */
  traceparent?: string | undefined
}

export interface Started {
  runId: string
  /** Whether it is new: its trigger may have started a run before. */
  created: boolean
}

export interface StarterOptions {
  store: RunStore
  runner: Runner
  programs: Programs
  clock: DatabaseClock
  owner: string
  evaluate: Evaluate
  /** The limit that runs of this program and with this start share; null for none. */
  limitOf(program: Program, request: StartRequest): Promise<KeyedLimit | null>
  /** Up to where the logs of all services have come. */
  logEnds(): Promise<LogPositions>
  database: Database
  /** Something is due. */
  wake(): void
  /** Cancels runs that have to make room for another one. */
  makeRoom(runIds: readonly string[]): Promise<void>
  /** A run is there; in a transaction, about to be. */
  changed: ChangedSignals['changed']
  /** A run has come to a state. */
  moved(status: RunProgress['status']): void
  /** The run that a trigger of a workflow has started. */
  startedBy(workflowId: string, triggerKey: string): Promise<string | undefined>
}

const queued: RunProgress = { status: 'queued', attempt: 1, error: null, startedAt: null, endedAt: null }

/**
 * Makes a run durable and, unless it is part of a transaction or there is no room for it, goes to work on it at once. In a
 * transaction it is due once that is committed: the caller wakes the runs then.
 */
export function createStarter(options: StarterOptions) {
  const { store, runner, programs, clock, owner, evaluate, startedBy } = options
  const newRunId = idFactory(clock.nowMs)

  /** One that finds no place waits for one, unless it is not to run then at all. */
  async function insertWithin(limit: KeyedLimit, row: NewRun, tx?: StatementRunner): Promise<boolean> {
    let cancel: string[] = []
    const insert = async (sql: StatementRunner) => {
      const found = await admitRun(sql, limit)
      cancel = found.starts ? [] : found.cancel
      if (found.starts) return store.insert(row, sql)
      return store.insert(limit.whenFull === 'skip' ? skipped(row) : { ...row, dueAt: null }, sql)
    }
    const created = await (tx ? insert(tx) : options.database.sql.begin(insert))
    if (created) await options.makeRoom(cancel)
    return created
  }

  return async (request: StartRequest, tx?: StatementRunner): Promise<Started> => {
    const { tenant, workflow, triggerKey } = request
    const { program } = await programs(workflow.programRef, tenant, tx)
    const since = program.awaitsEvents ? (request.since ?? (await options.logEnds())) : null
    const id = newRunId('run')
    // Lists find times by their place among the ids.
    const now = idTime(id)
    const at = new Date(now).toISOString()
    const limit = await options.limitOf(program, request)
    const identity = { ...identityOf(id, request, at), concurrencyKey: limit?.key ?? null }
    const origin = originOf(request, since)
    const begins = tx === undefined && limit === null && runner.hasRoomFor(tenant.workspaceId)
    const { folded, entries, inFlight }: EagerStart = begins
      ? await startEagerly({ program, identity, origin }, now, { evaluate, nowMs: clock.nowMs })
      : { folded: foldRun({ program, identity, origin, recorded: [] }), entries: [] }
    const lines = [
      formatJournalLine(0, now, origin),
      ...entries.map(({ entry, text, at: decidedAt }, n) => formatJournalLine(n + 1, decidedAt, entry, text)),
    ]
    const bytes = lines.reduce((sum, line) => sum + line.bytes, 0)
    const progress = begins ? folded.progress() : queued
    const drafts = draftRunEvents(
      queued,
      progress,
      entries.map(({ entry }) => entry),
    )
    const row = {
      ...{ identity, progress, triggerKey, lines, bytes, seq: entries.length, dueAt: at },
      awaitsEvents: program.awaitsEvents,
      owner: begins ? owner : null,
      events: buildEventRows(
        { identity, origin, actor: request.actor, requestId: request.requestId, at },
        [null, progress],
        drafts,
      ),
    }
    const inserted = limit === null ? store.insert(row, tx) : insertWithin(limit, row, tx)
    const created = await inserted.catch((error: unknown) => {
      inFlight?.abort()
      throw error
    })
    if (!created) inFlight?.abort()
    if (!created) return { runId: (await startedBy(workflow.id, triggerKey ?? '')) ?? id, created }
    options.changed(tenant, id)
    options.moved('queued')
    if (progress.status !== 'queued') options.moved(progress.status)
    const run: ClaimedRun = { identity, progress, fence: '1', seq: entries.length, bytes, signals: 0 }
    if (begins) runner.enter(run, { origin, inFlight }, folded)
    else if (!tx) options.wake()
    return { runId: id, created }
  }
}

/** A run that was not to be, as its key has as many as it may. */
function skipped(row: NewRun): NewRun {
  const error = {
    code: 'concurrency_limit',
    message: 'The maximum number of concurrent runs was active.',
    step: null,
  }
  const ended = { kind: 'ended', status: 'cancelled', error }
  const at = Date.parse(row.identity.queuedAt)
  const progress = { ...row.progress, status: 'cancelled' as const, error, endedAt: row.identity.queuedAt }
  return { ...row, progress, dueAt: null, seq: 1, lines: [...row.lines, formatJournalLine(1, at, ended)] }
}

function identityOf(
  id: string,
  { tenant, workflow, trigger, parent }: StartRequest,
  at: string,
): RunIdentity {
  return {
    id,
    tenant: { workspaceId: tenant.workspaceId, environment: tenant.environment },
    workflowId: workflow.id,
    workflowName: workflow.name,
    workflowVersion: workflow.version,
    triggerType: trigger.type,
    parentRunId: parent?.runId ?? null,
    parentWaits: parent?.waits ?? false,
    concurrencyKey: null,
    queuedAt: at,
  }
}

function originOf(request: StartRequest, since: LogPositions | null): Origin {
  const { workflow, trigger, event, input, parent, depth = 0, callers, causationId, requestId } = request
  return {
    ...{ programRef: workflow.programRef, trigger, event, input, depth, callers, causationId, requestId },
    since,
    traceparent: request.traceparent ?? traceparentOfCause(causationId),
    parent: parent ? { runId: parent.runId, place: parent.place } : null,
  }
}
