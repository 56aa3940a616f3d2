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

/** The workflow to run, and the cause. */
export interface StartRequest {
  tenant: TenantScope
  workflow: { id: string; name: string; version: number; programRef: string }
  trigger: { type: string; id: string | null; at: string }
  /** Unique among the runs of a workflow; `null`: any number of runs. */
  triggerKey: string | null
  event: unknown
  input: unknown
  parent?: Parent & { waits: boolean }
  /** The run may wait only for events accepted after these positions. Default: the current ends of the logs. */
  since?: LogPositions
  /** Number of runs in the chain of causes before this one; default 0. */
  depth?: number
  /** People on whose request the run is started. */
  callers?: RunCaller[] | undefined
  actor: Actor
  requestId: string | null
  causationId: string | null
  /** Trace context of the requesting span, if traced. */
  traceparent?: string | undefined
}

export interface Started {
  runId: string
  /** Whether the run is new: its trigger may have started one before. */
  created: boolean
}

export interface StarterOptions {
  store: RunStore
  runner: Runner
  programs: Programs
  clock: DatabaseClock
  owner: string
  evaluate: Evaluate
  /** The concurrency limit for this program and request; `null` for none. */
  limitOf(program: Program, request: StartRequest): Promise<KeyedLimit | null>
  /** Current ends of the logs of all services. */
  logEnds(): Promise<LogPositions>
  database: Database
  /** Notifies the worker that a run is due. */
  wake(): void
  /** Cancels runs to make room for another one. */
  makeRoom(runIds: readonly string[]): Promise<void>
  /** Called when a run was created; within a transaction, when it is about to be created. */
  changed: ChangedSignals['changed']
  /** Called when a run has changed its status. */
  moved(status: RunProgress['status']): void
  /** The run that a trigger of a workflow has started. */
  startedBy(workflowId: string, triggerKey: string): Promise<string | undefined>
}

const queued: RunProgress = { status: 'queued', attempt: 1, error: null, startedAt: null, endedAt: null }

/**
 * Stores a run and executes it immediately, unless it is part of a transaction or the process is at capacity. In a
 * transaction the run is due after the commit: the caller then wakes the runs.
 */
export function createStarter(options: StarterOptions) {
  const { store, runner, programs, clock, owner, evaluate, startedBy } = options
  const newRunId = idFactory(clock.nowMs)

  /** Inserts a run under a concurrency limit: at the limit it is queued, or skipped if its workflow says so. */
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
    // Lists find times by id prefix.
    const now = idTime(id)
    const at = new Date(now).toISOString()
    const limit = await options.limitOf(program, request)
    const identity = { ...toIdentity(id, request, at), concurrencyKey: limit?.key ?? null }
    const origin = toOrigin(request, since)
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

/** A run that is not executed because its key is at the limit. */
function skipped(row: NewRun): NewRun {
  const error = {
    code: 'concurrency_limit',
    message: 'The maximum number of concurrent runs was active.',
    step: null,
  }
  const entry = { kind: 'ended', status: 'cancelled', error }
  const at = Date.parse(row.identity.queuedAt)
  const progress = { ...row.progress, status: 'cancelled' as const, error, endedAt: row.identity.queuedAt }
  return { ...row, progress, dueAt: null, seq: 1, lines: [...row.lines, formatJournalLine(1, at, entry)] }
}

function toIdentity(
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

function toOrigin(request: StartRequest, since: LogPositions | null): Origin {
  const { workflow, trigger, event, input, parent, depth = 0, callers, causationId, requestId } = request
  return {
    ...{ programRef: workflow.programRef, trigger, event, input, depth, callers, causationId, requestId },
    since,
    traceparent: request.traceparent ?? traceparentOfCause(causationId),
    parent: parent ? { runId: parent.runId, place: parent.place } : null,
  }
}
