import type { RunError } from '@opsplane/contracts'
import type { ApprovalDecision, Entry, Place, StepError, Waiting } from './history.js'
import type { Node, StepList } from './program.js'
import type { Task, TaskId } from './task.js'
import { type Timer, Timers } from './timers.js'

/** What is known of a run before anything happens in it. Expressions see it. */
export interface RunContext {
  runId: string
  workflowId: string
  version: number
  trigger: { type: string; id: string | null; at: string }
  event: unknown
  input: unknown
}

/** How a step, or a part of a run, came out. `cut`: it was given up in the middle. */
export type Settled =
  | { kind: 'completed'; output: unknown }
  /** `place` is that of the step that failed first. */
  | { kind: 'failed'; error: StepError; place: Place }
  | { kind: 'stopped'; output: unknown }
  | { kind: 'cut' }

/** What expressions see of a step that has come out. */
export interface Done {
  output: unknown
  error: StepError | null
  status: 'completed' | 'failed'
}

/** Steps that see each other: those of the run, or of one round of a `for_each`. */
export interface Scope {
  parent: Scope | null
  done: Map<string, Done>
  round: { item: unknown; index: number } | null
}

/** A part of the run, or an active container. */
export interface Frame {
  /** Null for a part of the run. */
  step: StepRun | null
  /** What its rows are: these lists, or the only one of them once for each of the items. */
  lists: readonly StepList[]
  items: readonly unknown[] | null
  /** Rows there will be, and how many of them have begun. */
  total: number
  begun: number
  /** The most that are active at a time. */
  limit: number
  /** The active ones by index; where the frame was closed, those that had not finished. */
  rows: Map<number, Row>
  /** By index, of those that are through. */
  outputs: unknown[]
  /** Effects and starts of runs in it, however deep, whose outcome is not known. */
  flying: number
  /** How it will come out, once none of them is left. */
  closing: Settled | null
}

/** Steps of a list being run one after the other. */
export interface Row {
  frame: Frame
  index: number
  list: StepList
  position: number
  /** Null where the step at this position has not begun. */
  current: StepRun | null
  scope: Scope
  /** Of the places in it: the rounds it stands in, as in `[3][0]`. */
  suffix: string
}

/** A step being run at its place. */
export interface StepRun {
  node: Node
  place: Place
  row: Row
  /** In which attempt at the run it began, which tells it from earlier ones at its place. */
  born: number
  state: StepState
  task: { id: TaskId; made: Task | null } | null
  timer: Timer<StepRun | 'deadline'> | null
  /** Of a container that is open, or had failed when the run came to its end. */
  frame: Frame | null
}

export type StepState =
  /** To be evaluated. */
  | { kind: 'ready' }
  | { kind: 'performing'; input: unknown; attempt: number }
  /** Between two attempts; `attempt` is the next. */
  | { kind: 'delayed'; input: unknown; attempt: number; dueAt: number }
  /** A run of another workflow is being started; or gone on with, where there is one from an earlier attempt. */
  | { kind: 'starting'; input: unknown; childRunId: string | null }
  | { kind: 'waiting'; waiting: Waiting; decisions: ApprovalDecision[] }
  /** A container whose steps are active. */
  | { kind: 'open' }
  | { kind: 'settled' }

/** What follows the steps of a run as they go: for its trace. */
export interface Observer {
  begun(step: StepRun): void
  settled(step: StepRun, settled: Settled): void
}

/** The fold of a run's history, indexed so that whatever comes next costs what it changes. */
export interface RunMemory {
  readonly context: RunContext
  readonly observer: Observer | null
  stage: 'queued' | 'active' | 'ended'
  /** Grows with every retry. */
  attempt: number
  /** Whether effects whose outcome is unknown get another key in this attempt. */
  newKey: boolean
  /** The latest attempt of its parent that has gone on with it; 0 for none. */
  parentAttempt: number
  /** Of the last entry. */
  seq: number
  at: number
  bytes: number
  startedAt: number | null
  ended: (Entry & { kind: 'ended' }) | null
  endedAt: number | null
  main: Frame | null
  onFailure: Frame | null
  /** Of the steps that stand in no `for_each`. */
  scope: Scope
  /** Why the main part failed. */
  failure: RunError | null
  /** Active steps that contain no others. */
  live: Map<Place, StepRun>
  /** How many of their tasks are work, and how many are approvals. */
  busy: number
  approvals: number
  timers: Timers<StepRun | 'deadline'>
  deadline: Timer<StepRun | 'deadline'> | null
  /** Events that steps have waited for and got, by id: no other step of the run gets one of them again. */
  taken: Map<string, Place>
  /** Values that people are not shown. */
  readonly secrets: Set<string>
  /** Runs that were waited for and no longer are, though they may not have ended. */
  abandonedRuns: Set<string>
  /** Since they were last taken. */
  changes: { added: Set<StepRun>; removed: Set<TaskId> }
  /** Counts elementary operations, of decisions too: tests hold by it that no history is gone through twice. */
  readonly meter: { operations: number }
}

export function newRun(context: RunContext, observer: Observer | null = null): RunMemory {
  return {
    context,
    observer,
    stage: 'queued',
    attempt: 1,
    newKey: false,
    parentAttempt: 0,
    seq: 0,
    at: 0,
    bytes: 0,
    startedAt: null,
    ended: null,
    endedAt: null,
    main: null,
    onFailure: null,
    scope: { parent: null, done: new Map(), round: null },
    failure: null,
    live: new Map(),
    busy: 0,
    approvals: 0,
    timers: new Timers(),
    deadline: null,
    taken: new Map(),
    secrets: new Set(),
    abandonedRuns: new Set(),
    changes: { added: new Set(), removed: new Set() },
    meter: { operations: 0 },
  }
}

/**
 * Whether an effect may have happened without a known outcome: it was requested and abandoned, or answered uncertainly. The receiver
 * is asked again with the same key, by which it knows a repetition.
 */
export const isUncertain = (
  step: StepRun,
): step is StepRun & { state: Extract<StepState, { kind: 'performing' | 'delayed' }> } =>
  step.state.kind === 'performing' || step.state.kind === 'delayed'

/** Whether something may be happening elsewhere whose outcome is not known. */
export const isInFlight = ({ state }: StepRun): boolean =>
  state.kind === 'performing' || state.kind === 'starting'
