import { setImmediate as nextTurn } from 'node:timers/promises'
import { delay } from '@opsplane/runtime'
import { isPlain } from '@opsplane/sandbox'
import type { Signal } from '../engine/signal.js'
import type { TaskId } from '../engine/task.js'
import type { Evaluate, EvaluateTask } from './evaluate.js'
import { type Decided, type FoldedRun, foldRun, type RunHistory } from './folded-run.js'
import type { RunIdentity } from './model.js'

export interface EagerStart {
  folded: FoldedRun
  /** Entries decided so far, with their times (Unix ms). */
  entries: (Decided & { at: number })[]
  /** Work started for the run that has no result yet. */
  inFlight?: WorkInFlight
}

/** Work of a run that was started before the run has a worker. */
export interface WorkInFlight {
  task: TaskId
  /** Rejects with the abort reason. */
  signal: Promise<Signal>
  abort(): void
}

export interface EagerStartOptions {
  nowMs(): number
  evaluate: Evaluate
}

type NewRun = Omit<RunHistory, 'recorded'> & { identity: RunIdentity }

/**
 * Maximum time a new run waits for its first expressions, to store their result together with the run, in
 * milliseconds.
 */
const longestMs = 50

/**
 * The beginning of a run, stored together with it: the run starts and, if its first step needs only the journal and
 * little time, that step is evaluated.
 */
export async function startEagerly(run: NewRun, at: number, options: EagerStartOptions): Promise<EagerStart> {
  const started = start(run, at)
  const [first, ...others] = started.folded.tasks()
  if (first?.kind !== 'evaluate' || others.length > 0) return started
  const { signal, inFlight } = await evaluated({ ...run, folded: started.folded }, first, options)
  if (!signal) return { ...started, inFlight }
  const { folded, entries } = started
  const later = Math.max(at, options.nowMs())
  entries.push(...folded.decide(signal, later).map((entry) => ({ ...entry, at: later })))
  // An end of the run and awaited inputs are stored by a transition instead.
  const canContinue =
    folded.progress().endedAt === null && folded.tasks().every(({ kind }) => kind !== 'await')
  return canContinue ? started : { ...start(run, at), inFlight }
}

/** `signal` is `undefined` if the child process did not respond in time. */
async function evaluated(
  run: Pick<Required<EagerStart>, 'folded'> & { identity: RunIdentity },
  task: EvaluateTask,
  { evaluate }: EagerStartOptions,
): Promise<{ signal: Signal | undefined; inFlight: WorkInFlight }> {
  const aborting = new AbortController()
  const signal = evaluate(run, task, aborting.signal)
  // The run's worker receives the result later.
  signal.catch(() => {})
  const inFlight = { task: task.id, signal, abort: () => aborting.abort('given up') }
  if (task.templates.every(isPlain)) return { signal: await signal, inFlight }
  const patience = new AbortController()
  // A result that arrived while this process was busy is read before the timeout applies.
  const late = delay(longestMs, patience.signal).then(() => nextTurn(undefined))
  const inTime = await Promise.race([signal, late])
  patience.abort('evaluated')
  return { signal: inTime, inFlight }
}

function start(run: NewRun, at: number): EagerStart {
  const foldedRun = foldRun({ ...run, recorded: [] })
  return {
    folded: foldedRun,
    entries: foldedRun.decide({ kind: 'start' }, at).map((entry) => ({ ...entry, at })),
  }
}
