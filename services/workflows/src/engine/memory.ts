import type { RunError } from '@opsplane/contracts'
import type { ApprovalDecision, Entry, Place, StepError, Waiting } from './history.js'
import type { Node, StepList } from './program.js'
import type { Task, TaskId } from './task.js'
import { type Timer, Timers } from './timers.js'

/** The context a run starts with; readable by expressions. */
export interface RunContext {
  runId: string
  workflowId: string
  version: number
  trigger: { type: string; id: string | null; at: string }
  event: unknown
  input: unknown
}

/** The outcome of a step, or of a part of a run. `cut`: it was abandoned. */
export type Settled =
  | { kind: 'completed'; output: unknown }
  /** `place` is that of the step that failed first. */
  | { kind: 'failed'; error: StepError; place: Place }
  | { kind: 'stopped'; output: unknown }
  | { kind: 'cut' }

/** What expressions can read of a finished step. */
export interface Done {
  output: unknown
  error: StepError | null
  status: 'completed' | 'failed'
}

/** Steps visible to each other: those of the run, or of one iteration of a `for_each`. */
export interface Scope {
  parent: Scope | null
  done: Map<string, Done>
  round: { item: unknown; index: number } | null
}

/** A part of the run, or an active container. */
export interface Frame {
  /** `null` for a part of the run. */
  step: StepRun | null
  /** The lists run as rows: each list once, or a single list once for each item. */
  lists: readonly StepList[]
  items: readonly unknown[] | null
  /** Number of rows, and how many of them have begun. */
  total: number
  begun: number
  /** Maximum number of concurrently active rows. */
  limit: number
  /** Active rows by index; after the frame was closed, the unfinished ones. */
  rows: Map<number, Row>
  /** Outputs of finished rows, by index. */
  outputs: unknown[]
  /** Number of effects and run starts in the frame, at any depth, whose outcome is unknown. */
  flying: number
  /** Outcome of the frame once no effects are in flight. */
  closing: Settled | null
}

/** Steps of a list that run sequentially. */
export interface Row {
  frame: Frame
  index: number
  list: StepList
  position: number
  /** `null` if the step at this position has not begun. */
  current: StepRun | null
  scope: Scope
  /** Suffix of the places in this row: the surrounding iterations, as in `[3][0]`. */
  suffix: string
}

/** A step being run at its place. */
export interface StepRun {
  node: Node
  place: Place
  row: Row
  /** Attempt of the run in which the step began; distinguishes it from earlier steps at the same place. */
  born: number
  state: StepState
  task: { id: TaskId; made: Task | null } | null
  timer: Timer<StepRun | 'deadline'> | null
  /** Frame of a container that is open, or had failed when the run ended. */
  frame: Frame | null
}

export type StepState =
  /** Waiting to be evaluated. */
  | { kind: 'ready' }
  | { kind: 'performing'; input: unknown; attempt: number }
  /** Between two attempts; `attempt` is the next one. */
  | { kind: 'delayed'; input: unknown; attempt: number; dueAt: number }
  /** A run of another workflow is being started, or continued if `childRunId` names one from an earlier attempt. */
  | { kind: 'starting'; input: unknown; childRunId: string | null }
  | { kind: 'waiting'; waiting: Waiting; decisions: ApprovalDecision[] }
  /** A container whose steps are active. */
  | { kind: 'open' }
  | { kind: 'settled' }

/** Observes the steps of a run, for its trace. */
export interface Observer {
  begun(step: StepRun): void
  settled(step: StepRun, settled: Settled): void
}

/** The fold of a run's history, indexed so that each decision costs only what it changes. */
export interface RunMemory {
  readonly context: RunContext
  readonly observer: Observer | null
  stage: 'queued' | 'active' | 'ended'
  /** Incremented by every retry. */
  attempt: number
  /** Whether effects with an unknown outcome get a new key in this attempt. */
  newKey: boolean
  /** The latest attempt of the parent run that has continued this run; 0 for none. */
  parentAttempt: number
  /** Sequence number and time of the last entry. */
  seq: number
  at: number
  bytes: number
  startedAt: number | null
  ended: (Entry & { kind: 'ended' }) | null
  endedAt: number | null
  main: Frame | null
  onFailure: Frame | null
  /** Scope of the steps outside any `for_each`. */
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
  /** Events consumed by waiting steps, by id: no other step of the run receives them. */
  taken: Map<string, Place>
  /** Values that are masked when the run is shown. */
  readonly secrets: Set<string>
  /** Runs that are no longer waited for but may not have ended. */
  abandonedRuns: Set<string>
  /** Task changes since they were last read. */
  changes: { added: Set<StepRun>; removed: Set<TaskId> }
  /**
   * Counts elementary operations, including those of decisions: tests use it to assert that no history is processed
   * twice.
   */
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
 * Whether an effect may have happened with an unknown outcome: it was requested and abandoned, or its response was
 * uncertain. The request is repeated with the same key, by which the receiver recognizes the repetition.
 */
export const isUncertain = (
  step: StepRun,
): step is StepRun & { state: Extract<StepState, { kind: 'performing' | 'delayed' }> } =>
  step.state.kind === 'performing' || step.state.kind === 'delayed'

/** Whether an effect with an unknown outcome may be in progress. */
export const isInFlight = ({ state }: StepRun): boolean =>
  state.kind === 'performing' || state.kind === 'starting'
