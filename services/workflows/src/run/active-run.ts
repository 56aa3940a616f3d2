import type { RunError } from '@opsplane/contracts'
import type { Task, TaskId } from '../engine/task.js'
import type { Decided, FoldedRun } from './folded-run.js'
import { formatJournalLine } from './journal-lines.js'
import type { ClaimedRun, Origin, RunIdentity, RunProgress } from './model.js'
import { buildEventRows, draftRunEvents, workflowActor } from './run-events.js'
import {
  type InboxOutcome,
  type SignalEnvelope,
  type SignalResult,
  wrapOwnSignal,
} from './signal-envelope.js'
import type { Transition } from './store/transition.js'

export type AwaitTask = Extract<Task, { kind: 'await' }>
export type WorkTask = Exclude<Task, AwaitTask>

/** Further changes in the transaction of a transition, besides the run itself. */
export interface TransitionEffects {
  identity: RunIdentity
  origin: Pick<Origin, 'since'>
  progress: RunProgress
  /** Processed inbox signals with the outcome of each. */
  consumed: { id: number; outcome: InboxOutcome }[]
  /** Tasks awaited from now on. */
  awaited: AwaitTask[]
  /** Tasks no longer awaited. */
  settled: AwaitTask[]
  /** Runs it started and no longer waits for. */
  abandoned: string[]
  /** The run has ended with the trace quota exhausted: its values are not kept. */
  omits: boolean
}

/** What an active run depends on. */
export interface ActiveRunOptions {
  run: ClaimedRun
  origin: Origin
  folded: FoldedRun
  nowMs(): number
  /** Commits a transition and its effects. Returns `undefined` if another worker has the lease. */
  commit(
    transition: Transition,
    transitionEffects: TransitionEffects | null,
  ): Promise<{ signals: number } | undefined>
  /** Performs a task; resolves with the resulting signal. Rejects only once the task is aborted. */
  perform(run: ActiveRun, task: WorkTask, aborted: AbortSignal): Promise<SignalEnvelope['signal']>
  /** Reads new signals, and finished runs and events it waits for. `begun`: awaited tasks not searched for before. */
  readInbox(
    run: ActiveRun,
    awaited: readonly AwaitTask[],
    begun: readonly AwaitTask[],
  ): Promise<readonly SignalEnvelope[]>
  /** Whether a trace of this size is within the workspace's quota; if so, it is counted. */
  keepsTrace(workspaceId: string, bytes: number): boolean
  /** Called after a change of status was committed. */
  moved(status: RunProgress['status']): void
  /** Requests a tick at this time (Unix ms). */
  schedule(run: ActiveRun, at: number): void
  /** Called when this worker stops working on the run; `lost` includes the reason if known. */
  left(run: ActiveRun, how: Leaving): void
}

export type Leaving =
  | { how: 'ended'; output: unknown; error: RunError | null }
  | { how: 'released'; dueAt: number | null }
  | { how: 'lost'; error?: unknown }

export interface ActiveRun {
  readonly identity: RunIdentity
  readonly origin: Origin
  readonly fence: string
  progress(): RunProgress
  bytes(): number
  seq(): number
  folded: FoldedRun
  /** Resolves once the resulting changes are committed. */
  present(envelope: SignalEnvelope): Promise<SignalResult>
  /** Whether it waits for events or runs that may have arrived or ended while it had no worker. */
  awaitsInput(): boolean
  /** Reads its inbox. Resolves once the signals are processed. */
  checkInbox(): Promise<void>
  /** Stops all work; nothing more is recorded. */
  drop(): void
}

/** A run due earlier than this is kept in memory instead of being released. */
const worthReleasingMs = 1_000
/** Maximum number of signals in one transition. */
const maxAtOnce = 64

interface Queued extends SignalEnvelope {
  resolve(signalResult: SignalResult): void
}

const abortTask = (controller: AbortController | 'ended') => {
  if (controller !== 'ended') controller.abort()
}

export function createActiveRun(options: ActiveRunOptions): ActiveRun {
  const { run, origin, folded, nowMs, commit } = options
  const { identity, fence } = run
  let { progress, seq, bytes, signals } = run
  let queue: Queued[] = []
  let [busy, gone, looking, lookAgain] = [false, false, false, false]
  /** All requested tasks, as of the last entry. */
  const requestedTasks = new Map(folded.taskChanges().added.map((task): [TaskId, Task] => [task.id, task]))
  /** A finished task has nothing to abort, but stays listed while it is requested, so that no task starts twice. */
  const inFlight = new Map<TaskId, AbortController | 'ended'>()
  /** Runs already cancelled because no step waits for them. */
  const abandoned = new Set<string>()
  /** Ids of inbox signals already read. */
  const seen = new Set<number>()
  /** Awaited tasks for which earlier events and runs have been searched. */
  const searchedTasks = new Set<TaskId>()

  function leave(exit: Leaving) {
    if (gone) return
    gone = true
    for (const controller of inFlight.values()) abortTask(controller)
    for (const { resolve } of queue) resolve('gone')
    queue = []
    options.left(active, exit)
  }

  /** Signals that change nothing add no entry. A tick handles one due timer, so it is repeated. */
  function decide(batch: readonly Queued[], at: number) {
    const entries: Decided[] = []
    const changing = new Set<Queued>()
    const { attempt } = folded.progress()
    for (const queued of batch)
      for (;;) {
        if (queued.attempt !== undefined && queued.attempt < attempt) break
        const found = folded.decide(queued.signal, at)
        if (found.length > 0) changing.add(queued)
        entries.push(...found)
        if (queued.signal.kind !== 'tick' || found.length === 0) break
      }
    return { entries, changing }
  }

  function transitionTo(next: RunProgress, { entries, changing }: ReturnType<typeof decide>, at: number) {
    const { added, removed } = folded.taskChanges()
    const settled = removed.flatMap((id) => requestedTasks.get(id) ?? []).filter(isAwaited)
    for (const id of removed) {
      requestedTasks.delete(id)
      searchedTasks.delete(id)
    }
    for (const task of added) requestedTasks.set(task.id, task)
    const awaited = added.filter(isAwaited)
    // An awaited input may have arrived earlier; it is searched for once the wait is recorded.
    const mayHaveInput = awaited.some(isForEventOrRun)
    const dueAt = folded.nextDue()
    const idle =
      queue.length === 0 &&
      !looking &&
      !mayHaveInput &&
      next.status !== 'queued' &&
      [...requestedTasks.values()].every(isAwaited)
    const rests = idle && (dueAt === null || dueAt - at > worthReleasingMs)
    const by = [...changing].find(({ actor }) => actor !== null)
    const lines = entries.map(({ entry, text }, index) => formatJournalLine(seq + 1 + index, at, entry, text))
    const transition: Transition = {
      ...{ runId: identity.id, tenant: identity.tenant },
      ...{ fence, before: seq, seq: seq + lines.length, signals, lines, progress: next, dueAt },
      bytes: lines.reduce((sum, line) => sum + line.bytes, bytes),
      release: next.endedAt !== null || rests,
      events: buildEventRows(
        {
          ...{ identity, origin, at: new Date(at).toISOString() },
          actor: by?.actor ?? workflowActor(identity),
          requestId: by?.requestId ?? null,
        },
        [progress, next],
        draftRunEvents(
          progress,
          next,
          entries.map(({ entry }) => entry),
          folded.awaiting,
        ),
      ),
    }
    return { transition, awaited, settled, mayHaveInput }
  }

  async function step(batch: readonly Queued[]): Promise<void> {
    const at = nowMs()
    const decided = decide(batch, at)
    const unwanted = folded.abandonedRuns()
    for (const id of abandoned) if (!unwanted.includes(id)) abandoned.delete(id)
    const outcomeOf = (queued: Queued): InboxOutcome => (decided.changing.has(queued) ? 'changed' : 'ignored')
    const { transition, awaited, settled, mayHaveInput } = transitionTo(folded.progress(), decided, at)
    const transitionEffects: TransitionEffects = {
      ...{
        identity,
        origin,
        progress: transition.progress,
        awaited,
        settled,
        abandoned: unwanted.filter((id) => !abandoned.has(id)),
        omits:
          transition.progress.endedAt !== null &&
          !options.keepsTrace(identity.tenant.workspaceId, transition.bytes),
      },
      consumed: batch.flatMap((queued) =>
        queued.inboxId === undefined ? [] : [{ id: queued.inboxId, outcome: outcomeOf(queued) }],
      ),
    }
    const changes = transition.lines.length > 0 || transition.release || transitionEffects.consumed.length > 0
    const commitResult = changes
      ? await commit(transition, hasMore(transitionEffects) ? transitionEffects : null)
      : { signals }
    if (!commitResult) return leave({ how: 'lost' })
    if (transition.progress.status !== progress.status) options.moved(transition.progress.status)
    ;({ seq, bytes, progress } = transition)
    for (const id of transitionEffects.abandoned) abandoned.add(id)
    for (const queued of batch) queued.resolve(outcomeOf(queued))
    if (progress.endedAt !== null)
      return leave({ how: 'ended', output: folded.output(), error: folded.error() })
    if (transition.release)
      return leave({ how: 'released', dueAt: commitResult.signals > signals ? at : transition.dueAt })
    sync()
    if (transition.dueAt !== null) options.schedule(active, transition.dueAt)
    if (mayHaveInput || commitResult.signals > signals) void checkInbox(commitResult.signals)
  }

  /** Whatever happens to the step, all presenters of the batch receive an answer. */
  async function stepBy(batch: readonly Queued[]): Promise<void> {
    try {
      await step(batch)
    } catch (error) {
      leave({ how: 'lost', error })
    } finally {
      for (const { resolve } of batch) resolve('gone')
    }
  }

  async function work(): Promise<void> {
    if (busy || gone) return
    busy = true
    while (queue.length > 0 && !gone) await stepBy(queue.splice(0, maxAtOnce))
    busy = false
  }

  /** Starts new tasks, and abandons those that are no longer needed. */
  function sync() {
    for (const [id, controller] of inFlight)
      if (!requestedTasks.has(id)) {
        abortTask(controller)
        inFlight.delete(id)
      }
    for (const task of requestedTasks.values()) if (!isAwaited(task) && !inFlight.has(task.id)) begin(task)
  }

  function begin(task: WorkTask) {
    const controller = new AbortController()
    inFlight.set(task.id, controller)
    options.perform(active, task, controller.signal).then(
      (signal) => {
        if (controller.signal.aborted) return
        inFlight.set(task.id, 'ended')
        void active.present(wrapOwnSignal(signal))
      },
      (error: unknown) => {
        if (!controller.signal.aborted) leave({ how: 'lost', error })
      },
    )
  }

  /** `known`: number of signals sent to it when it reads the inbox. */
  async function checkInbox(known = signals): Promise<void> {
    if (looking) lookAgain = true
    if (looking || gone) return
    looking = true
    try {
      do {
        lookAgain = false
        await presentInbox()
      } while (lookAgain && !gone)
      signals = Math.max(signals, known)
    } catch (error) {
      leave({ how: 'lost', error })
    } finally {
      looking = false
    }
    // The run may be idle now; while reading the inbox it is not.
    if (queue.length === 0) void active.present(wrapOwnSignal({ kind: 'tick' }))
  }

  async function presentInbox() {
    const awaited = [...requestedTasks.values()].filter(isAwaited)
    const begun = awaited.filter(({ id }) => !searchedTasks.has(id))
    const found = await options.readInbox(active, awaited, begun)
    for (const { id } of begun) searchedTasks.add(id)
    for (const envelope of found) {
      const { inboxId } = envelope
      if (inboxId !== undefined && seen.has(inboxId)) continue
      if (inboxId !== undefined) seen.add(inboxId)
      void active.present(envelope)
    }
  }

  const active: ActiveRun = {
    ...{ identity, origin, fence },
    progress: () => progress,
    bytes: () => bytes,
    seq: () => seq,
    folded,
    present: (envelope) =>
      gone
        ? Promise.resolve('gone')
        : new Promise((resolve) => {
            queue.push({ ...envelope, resolve })
            void work()
          }),
    awaitsInput: () => [...requestedTasks.values()].filter(isAwaited).some(isForEventOrRun),
    checkInbox: () => checkInbox(),
    drop: () => leave({ how: 'lost' }),
  }
  return active
}

const isAwaited = (task: Task): task is AwaitTask => task.kind === 'await'
const isForEventOrRun = ({ waiting }: AwaitTask) => waiting.for === 'event' || waiting.for === 'run'
const leavesRows = ({ waiting }: AwaitTask) => waiting.for === 'event' || waiting.for === 'approval'

const hasMore = ({
  identity,
  progress,
  consumed,
  awaited,
  settled,
  abandoned,
  omits,
}: TransitionEffects): boolean =>
  omits ||
  consumed.length > 0 ||
  settled.some(leavesRows) ||
  awaited.some(leavesRows) ||
  abandoned.length > 0 ||
  (progress.endedAt !== null && (identity.parentWaits || identity.concurrencyKey !== null))
