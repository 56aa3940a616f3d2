import type { Place } from './history.js'
import { type Frame, isInFlight, type RunMemory, type StepRun, type StepState } from './memory.js'
import type { TaskId } from './task.js'

/** Moves an active step to a state. The only place where tasks, timers and counters change. */
export function enterState(memory: RunMemory, step: StepRun, state: StepState): void {
  leaveState(memory, step)
  step.state = state
  memory.live.set(step.place, step)
  const id = taskId(memory, step)
  if (id !== null) {
    step.task = { id, made: null }
    memory.changes.added.add(step)
  }
  const dueAt = computeDueAt(state)
  if (dueAt !== null) step.timer = memory.timers.add(dueAt, step)
  count(memory, step, 1)
}

/** Removes a step from the active ones; it keeps its last state. */
export function leaveState(memory: RunMemory, step: StepRun): void {
  memory.meter.operations += 1
  if (memory.live.get(step.place) !== step) return
  memory.live.delete(step.place)
  count(memory, step, -1)
  if (step.timer) memory.timers.remove(step.timer)
  step.timer = null
  if (step.task && !memory.changes.added.delete(step)) memory.changes.removed.add(step.task.id)
  step.task = null
}

function count(memory: RunMemory, step: StepRun, by: 1 | -1): void {
  const { state } = step
  if (state.kind === 'ready' || isInFlight(step)) memory.busy += by
  if (state.kind === 'waiting' && state.waiting.for === 'approval') memory.approvals += by
  if (!isInFlight(step)) return
  for (let frame: Frame | null = step.row.frame; frame; frame = frame.step?.row.frame ?? null) {
    memory.meter.operations += 1
    frame.flying += by
  }
}

/**
 * Identifies a task of the step at its place: by the attempt of the run in which the step began and by the current
 * attempt, which differ for steps continued after a cancel.
 */
function taskId({ attempt }: RunMemory, { place, born, state }: StepRun): TaskId | null {
  const name = `${place}#${born}.${attempt}`
  switch (state.kind) {
    case 'ready':
      return `${name}.evaluate`
    case 'performing':
      return `${name}.perform.${state.attempt}`
    case 'starting':
      return `${name}.start`
    case 'waiting':
      return `${name}.wait`
    default:
      return null
  }
}

/** The place of the step that a task belongs to. */
export const parseTaskPlace = (task: TaskId): Place => task.slice(0, task.indexOf('#'))

/** The active step of a task; `undefined` if it is no longer active. */
export function findTaskStep(memory: RunMemory, task: TaskId): StepRun | undefined {
  const step = memory.live.get(parseTaskPlace(task))
  return step?.task?.id === task ? step : undefined
}

function computeDueAt(state: StepState): number | null {
  if (state.kind === 'delayed') return state.dueAt
  if (state.kind !== 'waiting') return null
  const { waiting } = state
  switch (waiting.for) {
    case 'approval': {
      const due = Math.min(waiting.dueAt ?? Infinity, waiting.remindAt ?? Infinity)
      return due === Infinity ? null : due
    }
    case 'run':
      return null
    default:
      return waiting.dueAt
  }
}
