import { enterState } from './active-steps.js'
import type { Retry } from './history.js'
import { type Frame, isUncertain, type Row, type RunMemory, type StepRun, type StepState } from './memory.js'
import { frameOutput } from './moves.js'
import type { Node, Program } from './program.js'
import { startNext, startRows } from './rows.js'
import { climb } from './settle.js'

/** Resets an ended run to one whose new attempt has not begun, discarding the results at `from` and after it. */
export function forget(program: Program, memory: RunMemory, { from, newKey, parentAttempt }: Retry): void {
  const { scope, main } = memory
  const failureSteps = idsIn(program.onFailure?.nodes ?? [])
  for (const id of failureSteps) scope.done.delete(id)
  releaseConsumedEvents(memory, failureSteps)
  Object.assign(memory, { stage: 'queued', ended: null, endedAt: null, failure: null, onFailure: null })
  memory.attempt += 1
  memory.newKey = newKey ?? false
  memory.parentAttempt = parentAttempt ?? memory.parentAttempt
  const row = main?.rows.get(0)
  if (from === null || !row) return
  const { nodes } = row.list
  const position = nodes.findIndex(({ id }) => id === from)
  const isStill = position === row.position && row.current?.frame === null && isUncertain(row.current)
  if (!isStill) row.current = null
  row.position = position
  const forgotten = idsIn(nodes.slice(row.position))
  for (const id of forgotten) scope.done.delete(id)
  releaseConsumedEvents(memory, forgotten)
}

/** Discarded steps may receive the events again that they had consumed. */
function releaseConsumedEvents({ taken }: RunMemory, forgotten: readonly string[]): void {
  const ids = new Set(forgotten)
  for (const [event, place] of taken) if (ids.has(place.replace(/\[.*$/, ''))) taken.delete(event)
}

function idsIn(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ id, lists }) => [id, ...lists.flatMap((list) => idsIn(list.nodes))])
}

/** Continues the steps of a frame where they were when the run ended; failed and abandoned ones start again. */
export function reopen(program: Program, memory: RunMemory, frame: Frame): void {
  frame.closing = null
  for (const row of [...frame.rows.values()]) resume(program, memory, row)
  startRows(program, memory, frame)
  if (frame.step === null || frame.rows.size > 0) return
  climb(program, memory, frame.step, { kind: 'completed', output: frameOutput(frame, frame.outputs) })
}

function resume(program: Program, memory: RunMemory, row: Row): void {
  memory.meter.operations += 1
  const step = row.current
  if (step?.frame) {
    reenter(memory, step)
    reopen(program, memory, step.frame)
    return
  }
  const state = step && continued(memory, step)
  if (!state) {
    startNext(program, memory, row)
    return
  }
  row.scope.done.delete(step.node.id)
  memory.observer?.begun(step)
  enterState(memory, step, state)
}

/** The state with which a step continues instead of starting again. */
function continued(memory: RunMemory, step: StepRun): StepState | undefined {
  if (isUncertain(step))
    return memory.newKey ? undefined : { kind: 'performing', input: step.state.input, attempt: 1 }
  const { state } = step
  if (state.kind === 'starting') return state
  if (state.kind !== 'waiting' || state.waiting.for !== 'run') return undefined
  const { runId } = state.waiting
  memory.abandonedRuns.delete(runId)
  return { kind: 'starting', input: null, childRunId: runId }
}

function reenter(memory: RunMemory, step: StepRun): void {
  step.state = { kind: 'open' }
  step.row.scope.done.delete(step.node.id)
  memory.observer?.begun(step)
}
