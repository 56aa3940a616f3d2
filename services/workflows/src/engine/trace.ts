import type { StepType } from '@opsplane/contracts'
import { fold } from './fold.js'
import type { ApprovalDecision, By, Entry, Place, Recorded, StepError, Waiting } from './history.js'
import { newRun, type Row, type RunMemory, type Settled, type StepRun } from './memory.js'
import { outputId, type Program } from './program.js'

/** A step of a run as people look at it. Instants are Unix milliseconds. */
export interface TraceStep {
  place: Place
  id: string
  name: string | null
  type: StepType
  /** `cut_off`: given up in the middle, as the run was cancelled, took too long, or a step beside it had failed. */
  status: 'running' | 'retrying' | 'waiting' | 'completed' | 'failed' | 'cut_off'
  /** The attempt at the run in which it began. */
  runAttempt: number
  startedAt: number
  endedAt: number | null
  /** Of an effect, or of a sub-workflow. */
  input: unknown
  output: unknown
  error: StepError | null
  /** Of an effect, those of earlier attempts at the run included. */
  attempts: TraceAttempt[]
  waiting: Waiting | null
  decisions: ApprovalDecision[]
  /** Of a container: the lists of steps that were run. */
  lists: TraceList[]
}

export interface TraceAttempt {
  number: number
  startedAt: number
  endedAt: number | null
  error: StepError | null
  /** Where another follows: not before. */
  retryAt: number | null
}

export interface TraceList {
  /** `then`, `cases[0]`, the name of a branch, or `steps`. */
  key: string
  /** Of a `for_each`. */
  index: number | null
  steps: TraceStep[]
}

/** What became of the run as a whole. */
export interface TraceChange {
  at: number
  kind: 'started' | 'cancelling' | 'retried' | 'ended'
  by: By | null
}

export interface RunTrace {
  steps: TraceStep[]
  onFailure: TraceStep[]
  /** The evaluation of the run's output, where the definition has one. */
  output: TraceStep | null
  changes: TraceChange[]
}

/** What a run has done so far, as a tree. Goes through the history once. */
export function trace(program: Program, recorded: Iterable<Recorded>): RunTrace {
  const tracer = new Tracer()
  const memory = newRun(nowhere, tracer)
  tracer.memory = memory
  for (const each of recorded) {
    const { entry } = each
    const step = 'place' in entry ? memory.live.get(entry.place) : undefined
    memory.at = each.at
    if (step) tracer.note(step, entry)
    fold(program, memory, each)
    if (!('place' in entry)) tracer.change(entry)
  }
  const isOutput = ({ id }: TraceStep) => id === outputId
  return {
    steps: tracer.main.filter((step) => !isOutput(step)),
    onFailure: tracer.onFailure,
    output: tracer.main.find(isOutput) ?? null,
    changes: tracer.changes,
  }
}

/** What expressions would see is of no account, as all their values are recorded. */
const nowhere = {
  ...{ runId: '', workflowId: '', version: 0, event: null, input: null },
  trigger: { type: '', id: null, at: '' },
}

class Tracer {
  readonly main: TraceStep[] = []
  onFailure: TraceStep[] = []
  readonly changes: TraceChange[] = []
  memory: RunMemory | null = null
  readonly #steps = new WeakMap<StepRun, TraceStep>()
  readonly #lists = new WeakMap<Row, TraceStep[]>()
  readonly #latest = new Map<Place, TraceStep>()

  get #now(): number {
    return this.memory?.at ?? 0
  }

  begun(step: StepRun): void {
    const known = this.#steps.get(step)
    if (known) {
      Object.assign(known, { status: 'running', endedAt: null, error: null })
      if (step.state.kind === 'performing') this.#attempt(known, step.state.attempt)
      return
    }
    const traced = this.#newStep(step)
    const list = this.#listOf(step.row)
    list.length = Math.min(list.length, step.row.position)
    list.push(traced)
    this.#steps.set(step, traced)
    this.#latest.set(step.place, traced)
  }

  settled(step: StepRun, settled: Settled): void {
    const traced = this.#steps.get(step)
    if (!traced) return
    const error = settled.kind === 'failed' ? settled.error : null
    const output = 'output' in settled ? settled.output : null
    const status = settled.kind === 'failed' ? 'failed' : settled.kind === 'cut' ? 'cut_off' : 'completed'
    Object.assign(traced, { status, error, output, endedAt: this.#now })
    const last = traced.attempts.at(-1)
    if (last) last.endedAt ??= this.#now
  }

  /** What an entry says of the step under way at its place. */
  note(step: StepRun, entry: Entry): void {
    const traced = this.#steps.get(step)
    if (!traced) return
    const last = traced.attempts.at(-1)
    switch (entry.kind) {
      case 'begun':
        traced.input = entry.input
        if (traced.type !== 'workflow') this.#attempt(traced, 1)
        break
      case 'attempt_failed':
        if (last) Object.assign(last, { endedAt: this.#now, error: entry.error, retryAt: entry.retryAt })
        traced.status = 'retrying'
        break
      case 'retry_due':
        this.#attempt(traced, entry.attempt)
        break
      case 'waiting':
        Object.assign(traced, { waiting: entry.waiting, status: 'waiting' })
        break
      case 'decided':
        traced.decisions.push(entry.decision)
        break
    }
  }

  /** What an entry says of the run. */
  change(entry: Entry): void {
    if (entry.kind === 'retried') {
      this.onFailure = []
      this.main.length = Math.min(this.main.length, (this.memory?.main?.rows.get(0)?.position ?? 0) + 1)
      if (entry.from !== null) this.main.pop()
    }
    if (
      entry.kind !== 'started' &&
      entry.kind !== 'cancelling' &&
      entry.kind !== 'retried' &&
      entry.kind !== 'ended'
    )
      return
    this.changes.push({ at: this.#now, kind: entry.kind, by: 'by' in entry ? entry.by : null })
  }

  #attempt(traced: TraceStep, number: number): void {
    traced.status = 'running'
    traced.attempts.push({ number, startedAt: this.#now, endedAt: null, error: null, retryAt: null })
  }

  #newStep({ place, node, born }: StepRun): TraceStep {
    const { id, type, name = null } = node.step
    return {
      ...{ place, id, name, type, status: 'running', runAttempt: born, startedAt: this.#now, endedAt: null },
      ...{ input: null, output: null, error: null, attempts: this.#latest.get(place)?.attempts ?? [] },
      ...{ waiting: null, decisions: [], lists: [] },
    }
  }

  #listOf(row: Row): TraceStep[] {
    const known = this.#lists.get(row)
    if (known) return known
    const list = this.#newList(row)
    this.#lists.set(row, list)
    return list
  }

  #newList({ frame, list: { key }, index }: Row): TraceStep[] {
    if (frame.step === null) return this.memory?.onFailure ? this.onFailure : this.main
    const list = { key, index: frame.items ? index : null, steps: [] }
    this.#steps.get(frame.step)?.lists.push(list)
    return list.steps
  }
}
