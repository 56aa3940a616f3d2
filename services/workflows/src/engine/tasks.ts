import type { EffectStep, Step } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import type { Place, Waiting } from './history.js'
import type { RunMemory, StepRun } from './memory.js'
import type { Program } from './program.js'
import { findPin } from './rows.js'
import { buildScope } from './scope.js'
import type { Task, TaskId } from './task.js'

/** All tasks of the run, for a worker that has just loaded it. */
export function listTasks(program: Program, memory: RunMemory): Task[] {
  const tasks: Task[] = []
  for (const step of memory.live.values()) {
    const task = ensureTask(program, memory, step)
    if (task) tasks.push(task)
  }
  return tasks
}

export interface TaskChanges {
  added: Task[]
  removed: TaskId[]
}

/** Task changes since the last call; the first call returns all tasks. */
export function drainTaskChanges(program: Program, memory: RunMemory): TaskChanges {
  const { added: steps, removed } = memory.changes
  memory.changes = { added: new Set(), removed: new Set() }
  const added: Task[] = []
  for (const step of steps) {
    const task = ensureTask(program, memory, step)
    if (task && !removed.delete(task.id)) added.push(task)
  }
  return { added, removed: [...removed] }
}

export interface AwaitedInput {
  task: TaskId
  place: Place
  waiting: Waiting
  /** Users who have already decided on the approval. */
  decided: string[]
}

/** External inputs the run waits for: approvals and events. */
export function listAwaitedInputs({ live }: RunMemory): AwaitedInput[] {
  return [...live.values()].flatMap(({ place, state, task }) =>
    state.kind === 'waiting' && task
      ? [{ task: task.id, place, waiting: state.waiting, decided: state.decisions.map(({ by }) => by) }]
      : [],
  )
}

function ensureTask(program: Program, memory: RunMemory, step: StepRun): Task | null {
  if (step.task === null) return null
  step.task.made ??= makeTask(program, memory, step, step.task.id)
  return step.task.made
}

function makeTask(program: Program, memory: RunMemory, step: StepRun, id: TaskId): Task | null {
  const { state, place, node } = step
  switch (state.kind) {
    case 'ready': {
      const template = findPin(program, step) ? null : node.template
      if (template === null) return { kind: 'evaluate', id, place, templates: [], scope: {} }
      return { kind: 'evaluate', id, place, templates: [template], scope: buildScope(program, memory, step) }
    }
    case 'performing': {
      if (!isEffect(node.step)) throw new Error(`${place} is performed and is no effect`)
      const { input, attempt } = state
      const timeoutMs = node.step.timeoutSeconds * 1_000
      return {
        kind: 'perform',
        id,
        place,
        step: node.step,
        input,
        attempt,
        timeoutMs,
        key: keyOf(memory, step),
      }
    }
    case 'starting': {
      if (node.step.type !== 'workflow') throw new Error(`${place} starts a run and is no such step`)
      const { workflow: workflowId, wait } = node.step
      const { input, childRunId: runId } = state
      const { attempt: parentAttempt, newKey } = memory
      const continuation = runId === null ? null : { runId, parentAttempt, ...(newKey && { newKey }) }
      return {
        kind: 'start_run',
        id,
        place,
        workflowId,
        wait,
        input,
        key: keyOf(memory, step),
        goesOn: continuation,
      }
    }
    case 'waiting':
      return { kind: 'await', id, place, waiting: state.waiting }
    default:
      return null
  }
}

const effects: readonly string[] = [
  'http',
  'api',
  'connector',
  'artifact',
  'publish',
] satisfies EffectStep['type'][]

const isEffect = (step: Step): step is EffectStep => effects.includes(step.type)

/** Idempotency key of an effect: from run, place and the attempt in which the step began. */
const keyOf = ({ context }: RunMemory, { place, born }: StepRun): string =>
  sha256Hex(`${context.runId}:${place}:${born}`)
