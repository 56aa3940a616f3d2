import { type JsonValue, type RunError, type Step, stringifyExact } from '@opsplane/contracts'
import { decide } from '../engine/decide.js'
import { fold } from '../engine/fold.js'
import type { Entry, Place, Recorded } from '../engine/history.js'
import { newRun } from '../engine/memory.js'
import type { Program } from '../engine/program.js'
import type { Signal } from '../engine/signal.js'
import { summarizeRun } from '../engine/summary.js'
import type { Task } from '../engine/task.js'
import {
  type AwaitedInput,
  drainTaskChanges,
  listAwaitedInputs,
  listTasks,
  type TaskChanges,
} from '../engine/tasks.js'
import type { Origin, RunIdentity, RunProgress } from './model.js'
import { createShownValues } from './shown/shown-values.js'

/** The state of a run, folded in memory. Changes with every decision. */
export interface FoldedRun {
  /** Decides on a signal at this time (Unix ms) and folds the resulting entries. */
  decide(signal: Signal, at: number): Decided[]
  /** The step at a place. */
  stepAt(place: Place): Step | undefined
  tasks(): Task[]
  /** Task changes since the last call. */
  taskChanges(): TaskChanges
  /** Awaited inputs as shown in events: titles of approvals are masked. */
  awaiting(): AwaitedInput[]
  /** Fields of the run for lists and events: its error is masked. */
  progress(): RunProgress
  /** Unix milliseconds. */
  nextDue(): number | null
  /** Output of a completed run. */
  output(): unknown
  /** Unmasked error of a run that has not completed, for parent runs and waiting callers. */
  error(): RunError | null
  /** Ids of events consumed by its waiting steps. */
  consumedEvents(): string[]
  /** Runs it started and no longer waits for. */
  abandonedRuns(): string[]
}

/** An entry with its JSON, which is serialized only once. */
export interface Decided {
  entry: Entry
  text: string
}

export interface RunHistory {
  program: Program
  identity: Pick<RunIdentity, 'id' | 'workflowId' | 'workflowVersion'>
  origin: Pick<Origin, 'trigger' | 'event' | 'input'>
  recorded: readonly Recorded[]
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

/** Throws if the history does not belong to this program. */
export function foldRun({ program, identity, origin, recorded }: RunHistory): FoldedRun {
  const { id: runId, workflowId, workflowVersion: version } = identity
  const { trigger, event, input } = origin
  const memory = newRun({ runId, workflowId, version, trigger, event, input })
  for (const each of recorded) fold(program, memory, each)
  let { seq } = memory
  // JSON, as read from the journal.
  const shown = () => createShownValues([input, event] as JsonValue[], memory.secrets)
  return {
    decide(signal, now) {
      const decided = decide(program, memory, signal, { now }).map((entry) => ({
        entry,
        text: stringifyExact(entry),
      }))
      for (const { entry, text } of decided)
        fold(program, memory, { seq: ++seq, at: now, bytes: text.length, entry })
      return decided
    },
    stepAt: (place) => program.nodes.get(place.replace(/\[.*$/, ''))?.step,
    tasks: () => listTasks(program, memory),
    taskChanges: () => drainTaskChanges(program, memory),
    awaiting: () => listAwaitedInputs(memory).map(shown().awaiting),
    progress() {
      const { status, attempt, error, startedAt, endedAt } = summarizeRun(memory)
      const shownError = error && shown().runError(error)
      return { status, attempt, error: shownError, startedAt: iso(startedAt), endedAt: iso(endedAt) }
    },
    nextDue: () => memory.timers.next?.at ?? null,
    output: () => summarizeRun(memory).output,
    error: () => summarizeRun(memory).error,
    consumedEvents: () => [...memory.taken.keys()],
    abandonedRuns: () => [...memory.abandonedRuns],
  }
}
