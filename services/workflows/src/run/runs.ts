import { randomUUID } from 'node:crypto'
import { ApiError, type TenantScope } from '@opsplane/contracts'
import { startMonths } from '@opsplane/eventstore'
import { maxCausationDepth } from '@opsplane/http'
import { createChangedSignals, publishHint } from '@opsplane/nats'
import { delayFailedRows, releaseStatement, residentWorker } from '@opsplane/postgres'
import { type Budgets, systemClock } from '@opsplane/runtime'
import type { Expressions } from '@opsplane/sandbox'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { Retry } from '../engine/history.js'
import type { Program } from '../engine/program.js'
import type { ActiveRun, Leaving, TransitionEffects } from './active-run.js'
import { continueChild, findContinuedRuns } from './children.js'
import { databaseClock } from './clock.js'
import { type CompletionWaiter, createCompletionWaiter } from './completion-waiter.js'
import { resolveLimit } from './concurrency/key.js'
import { createEvaluate } from './evaluate.js'
import type { AcceptedEvent, LogPositions } from './event-wait/accepted-event.js'
import { sendToWaiting } from './event-wait/waits.js'
import { foldRun } from './folded-run.js'
import { readInbox } from './inbox.js'
import { type LeasedRun, leaseRun, runColumns } from './lease.js'
import { loadJournals, parseOrigin } from './load-journals.js'
import type { Origin, RunIdentity } from './model.js'
import { createPrograms, type LoadVersion, type Programs } from './programs.js'
import { createRunMetrics } from './run-metrics.js'
import { createRunNotifications } from './run-notifications.js'
import { createRunner, type Runner } from './runner.js'
import { type SignalEnvelope, type SignalResult, wrapOwnSignal } from './signal-envelope.js'
import { requestSignal } from './signal-request.js'
import { createStarter, type StartRequest } from './start.js'
import { createRunStore, runStatement } from './store/store.js'
import type { Transition } from './store/transition.js'
import { dueRuns } from './tables.js'
import { type AffectedRuns, applyTransitionEffects } from './transition-effects.js'
import { createWork, type Effects, type GiverOf, type StartTask } from './work.js'

export interface RunsOptions {
  expressions: Pick<Expressions, 'evaluate'>
  effects: Effects
  /** Loads the version a run is pinned to. */
  loadVersion: LoadVersion
  /** The version that a step `workflow` starts at present. Throws if the workflow does not exist or cannot be run. */
  published(workflowId: string, tenant: TenantScope): Promise<StartRequest['workflow']>
  /** The rights a run currently acts with; `null` if it has none. */
  giverOf: GiverOf
  /** Current ends of the logs of all services. */
  logEnds(): Promise<LogPositions>
  /** The quotas for traces. */
  budgets: Pick<Budgets, 'fits'>
  /** Maximum number of active runs, in total and of one workspace. */
  maxRuns?: { all: number; ofOne: number }
  leaseMs?: number
  /** A run is no longer attempted after this many consecutive worker crashes at the same step. */
  maxDeaths?: number
}

export interface Runs {
  start: ReturnType<typeof createStarter>
  waitForEnd: CompletionWaiter['wait']
  waitForRest: CompletionWaiter['waitForRest']
  /**
   * Presents a signal to a run and resolves with the result: directly, or through the run's inbox if another worker has
   * it. With `force` the lease is taken from that worker. `gone`: the run kept changing workers.
   */
  present(runId: string, envelope: SignalEnvelope, force: boolean): Promise<SignalResult>
  /** The program of a run. */
  programOf(identity: RunIdentity): Promise<Program>
  /** Returns a run and the runs that would be continued by this retry, with the version each is pinned to. */
  findContinuedRuns(identity: RunIdentity, how: Retry): Promise<{ id: string; programRef: string }[]>
  /** Presents events to the runs that currently wait for them. */
  deliver(events: readonly AcceptedEvent[]): Promise<void>
  /** To be called after the commit of a transaction that started runs. */
  wake(): void
  readonly runner: Runner
  readonly programs: Programs
  readonly background: BackgroundWork[]
  onDrain(): void
}

/** Maximum number of attempts to present a signal to a run whose lease changes in the meantime. */
const maxTries = 5
const defaults = { maxRuns: { all: 256, ofOne: 64 }, leaseMs: 30_000, maxDeaths: 5 }
export function createRuns(ctx: ServiceContext, options: RunsOptions): Runs {
  const { database, dueWork, relay, log } = ctx
  const { maxRuns, leaseMs, maxDeaths } = { ...defaults, ...options }
  const owner = `${ctx.config.instanceId}:${randomUUID()}`
  const closing = new AbortController()
  const measures = createRunMetrics(ctx.metrics)
  const clock = databaseClock(database.sql, ctx.clock === systemClock ? undefined : ctx.clock)
  const store = createRunStore({
    ...{ database, leaseMs, announce: relay.wake, closing: closing.signal },
    at: clock.at,
  })
  const signals = createChangedSignals({
    ...{ names: ctx.names, type: 'run' },
    publish: (subject, payload) => publishHint(ctx.link, subject, payload),
  })
  const programs = createPrograms(options.loadVersion)
  const completionWaiter = createCompletionWaiter(database.sql, (runId) => runner.has(runId))

  async function commit(transition: Transition, transitionEffects: TransitionEffects | null) {
    const commitResult = await move(transition, transitionEffects)
    if (commitResult) signals.changed(transition.tenant, transition.runId)
    return commitResult
  }

  async function move(transition: Transition, transitionEffects: TransitionEffects | null) {
    if (!transitionEffects) return store.commit(transition)
    const commitResult = await store.commitWith(transition, (tx) =>
      applyTransitionEffects(tx, transitionEffects, clock.at()),
    )
    if (commitResult) notifyRuns(commitResult.followed ?? { runIds: [], admitted: true })
    return commitResult
  }

  function notifyRuns({ runIds, admitted }: AffectedRuns) {
    for (const runId of runIds) {
      if (runner.has(runId)) void runner.get(runId).then((active) => active?.checkInbox())
      else notifications.notify(runId)
    }
    if (admitted || runIds.length > 0) due.wake()
  }

  function left({ identity, progress }: ActiveRun, exit: Leaving) {
    if (exit.how === 'ended') {
      const { output, error } = exit
      completionWaiter.ended(identity.id, { status: progress().status, output, error })
    }
    if (exit.how === 'released' && progress().status === 'paused')
      completionWaiter.ended(identity.id, { status: 'paused', output: null, error: null })
    if (exit.how === 'released' && exit.dueAt !== null) due.wake(Math.max(exit.dueAt - clock.nowMs(), 0))
    if (exit.how === 'lost' && exit.error !== undefined)
      log.error(
        { err: exit.error, run: identity.id },
        'this replica has given up a run after an error; another one resumes it when its lease expires',
      )
  }

  /** Called when the run received a signal or another worker claimed the lease. */
  async function onNotification(runId: string) {
    const active = await runner.get(runId)
    const [row] = active
      ? await runStatement<{ fence: string }>(
          database.sql,
          'select lease_fence::text as fence from runs where id = $1',
          [runId],
        )
      : []
    if (!active || !row) return
    if (row.fence === active.fence) await active.checkInbox()
    else active.drop()
  }

  /** Returns `undefined` if another worker has the run. */
  async function claimRun(
    runId: string,
    first: SignalEnvelope,
    force: boolean,
  ): Promise<SignalResult | undefined> {
    const row = await leaseRun(database.sql, { id: runId, owner, leaseMs, at: clock.at(), force })
    if (row && force) notifications.notify(runId)
    return row && runner.acceptWithSignal(row, first)
  }

  const signalRequestOptions = {
    ...{ sql: database.sql, at: clock.at, closing: closing.signal },
    notify: (runId: string) => notifyRuns({ runIds: [runId], admitted: false }),
    seizeLease: async (runId: string) => void (await claimRun(runId, wrapOwnSignal({ kind: 'tick' }), true)),
  }

  async function present(runId: string, envelope: SignalEnvelope, force: boolean): Promise<SignalResult> {
    for (let tries = 1; tries <= maxTries; tries++) {
      const active = await runner.get(runId)
      const here = active ? await active.present(envelope) : 'gone'
      if (here !== 'gone') return here
      // Takes the lease by force only once: otherwise two replicas would take it from each other forever.
      const result = await claimRun(runId, envelope, force && tries === 1)
      if (result === undefined) return requestSignal(signalRequestOptions, runId, envelope)
      if (result !== 'gone') return result
    }
    return 'gone'
  }

  async function startChild(active: ActiveRun, task: StartTask): Promise<{ runId: string }> {
    const { identity, origin } = active
    if (task.goesOn) return continueChild({ sql: database.sql, present }, identity, task.goesOn)
    if (origin.depth >= maxCausationDepth)
      throw new ApiError(
        'conflict',
        `Runs have started runs ${maxCausationDepth} levels deep; this one starts no other.`,
      )
    const workflow = await options.published(task.workflowId, identity.tenant)
    const { runId } = await start({
      tenant: identity.tenant,
      workflow,
      trigger: { type: 'workflow', id: identity.id, at: new Date(clock.nowMs()).toISOString() },
      triggerKey: task.key,
      event: null,
      input: task.input,
      parent: { runId: identity.id, place: task.place, waits: task.wait },
      depth: origin.depth + 1,
      callers: origin.callers,
      actor: { id: identity.workflowId, name: identity.workflowName, type: 'workflow' },
      requestId: origin.requestId,
      causationId: origin.causationId,
      traceparent: origin.traceparent,
    })
    return { runId }
  }

  const programOf = async ({ id, tenant }: RunIdentity) => {
    const { programRef } = await parseOrigin(database.sql, id)
    return (await programs(programRef, tenant)).program
  }

  const loaded = async ({ programRef }: Origin, { tenant }: RunIdentity) => {
    const found = await store.insist(() => programs(programRef, tenant))
    if (!found) throw new ApiError('service_unavailable', 'The service is shutting down.')
    return found
  }
  const evaluate = createEvaluate(options.expressions)
  const work = createWork({
    ...{ evaluate, effects: options.effects, giverOf: options.giverOf },
    ...{ startChild, log, recordDuration: measures.recordStepDuration, tracing: ctx.tracing },
  })
  const runner = createRunner({
    ...{ maxRuns, maxDeaths, commit, left, perform: work, moved: measures.moved },
    nowMs: clock.nowMs,
    keepsTrace: (workspaceId, bytes) => options.budgets.fits('traceBytesPerDay', { workspaceId }, bytes),
    readInbox: (active, awaited, begun) => readInbox(database.sql, { active, awaited, begun }),
    journals: async (ids) => (await store.insist(() => loadJournals(database.sql, ids))) ?? new Map(),
    async foldedRunOf({ identity }, { origin, recorded }) {
      const { program } = await loaded(origin, identity)
      return foldRun({ program, identity, origin, recorded })
    },
    failed(row, error) {
      if (closing.signal.aborted) return
      log.error({ err: error, run: row.key }, 'a run could not be resumed; it is delayed and retried')
      const delayWrite = delayFailedRows({ name: 'runs', of: dueRuns }, { ...database, log, at: clock.at }, [
        { row, error },
      ])
      // If this fails, the lease expires by itself.
      delayWrite.catch(() => {})
    },
    recovered: ({ key, fence }) =>
      runStatement(
        database.sql,
        'update runs set failures = 0, last_error = null where id = $1 and lease_fence = $2::bigint',
        [key, fence],
      ),
    releaseRuns: async (rows) => {
      const { text, parameters } = releaseStatement(dueRuns, rows)
      if (rows.length > 0) await database.sql.unsafe(text, parameters, { prepare: true })
    },
    renewed: () => void clock.adjust().catch(() => {}),
  })
  const due = dueWork.start(
    residentWorker<LeasedRun>({ name: 'runs', of: dueRuns, columns: runColumns, leaseMs, work: runner }),
  )
  const start = createStarter({
    ...{ store, runner, programs, clock, owner, evaluate, database, logEnds: options.logEnds },
    wake: () => due.wake(),
    changed: signals.changed,
    moved: measures.moved,
    limitOf: (program, request) => resolveLimit(options.expressions, program, request),
    async makeRoom(runIds) {
      const reason = 'A later run of the same key takes its place.'
      const signal = { kind: 'cancel', by: 'system', reason } as const
      for (const runId of runIds) await present(runId, { signal, actor: null, requestId: null }, true)
    },
    async startedBy(workflowId, triggerKey) {
      const [row] = await runStatement<{ run_id: string }>(
        database.sql,
        'select run_id from run_triggers where workflow_id = $1 and key = $2',
        [workflowId, triggerKey],
      )
      return row?.run_id
    },
  })
  void clock.adjust().catch(() => {})
  const notifications = createRunNotifications(
    ctx.link,
    ctx.names,
    (runId) => void onNotification(runId).catch(() => {}),
  )
  return {
    present,
    async deliver(events) {
      const runIds = await sendToWaiting(database.sql, events, clock.at())
      notifyRuns({ runIds, admitted: false })
    },
    programOf,
    findContinuedRuns: (identity, how) => findContinuedRuns({ sql: database.sql, programOf }, identity, how),
    start,
    waitForEnd: completionWaiter.wait,
    waitForRest: completionWaiter.waitForRest,
    wake: () => due.wake(),
    ...{ runner, programs },
    background: [
      startMonths(database.sql, log, 'add_run_month'),
      notifications,
      signals,
      { close: () => closing.abort() },
    ],
    onDrain: () => completionWaiter.close(),
  }
}
