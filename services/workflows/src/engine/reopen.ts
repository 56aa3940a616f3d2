import type { Place } from './history.js'
import { enter } from './live.js'
import type { Frame, Row, RunMemory, StepRun } from './memory.js'
import { frameOutput } from './moves.js'
import type { Node, Program } from './program.js'
import { fill, startNext } from './rows.js'
import { climb } from './settle.js'

/** Makes a run that has ended one that has not begun this attempt, without what stands at `from` and after it. */
export function forget(program: Program, memory: RunMemory, from: Place | null): void {
  const { scope, main } = memory
  const failureSteps = idsIn(program.onFailure?.nodes ?? [])
  for (const id of failureSteps) scope.done.delete(id)
  giveBack(memory, failureSteps)
  Object.assign(memory, { stage: 'queued', ended: null, endedAt: null, failure: null, onFailure: null })
  memory.attempt += 1
  const row = main?.rows.get(0)
  if (from === null || !row) return
  const { nodes } = row.list
  row.position = nodes.findIndex(({ id }) => id === from)
  row.current = null
  const forgotten = idsIn(nodes.slice(row.position))
  for (const id of forgotten) scope.done.delete(id)
  giveBack(memory, forgotten)
}

/** Steps that are forgotten may get the events again that they have waited for. */
function giveBack({ taken }: RunMemory, forgotten: readonly string[]): void {
  const ids = new Set(forgotten)
  for (const [event, place] of taken) if (ids.has(place.replace(/\[.*$/, ''))) taken.delete(event)
}

function idsIn(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ id, lists }) => [id, ...lists.flatMap((list) => idsIn(list.nodes))])
}

/** Goes on where the steps of a frame stood when the run ended: what failed or was cut off begins anew. */
export function reopen(program: Program, memory: RunMemory, frame: Frame): void {
  frame.closing = null
  for (const row of [...frame.rows.values()]) resume(program, memory, row)
  fill(program, memory, frame)
  if (frame.step === null || frame.rows.size > 0) return
  climb(program, memory, frame.step, { kind: 'completed', output: frameOutput(frame, frame.outputs) })
}

function resume(program: Program, memory: RunMemory, row: Row): void {
  memory.meter.operations += 1
  const step = row.current
  if (step?.frame) {
    reenter(memory, step)
    reopen(program, memory, step.frame)
  } else if (step?.state.kind === 'performing') {
    // Whether it was had is not known: the receiver is asked again with the same key, and tells.
    memory.observer?.begun(step)
    enter(memory, step, step.state)
  } else startNext(program, memory, row)
}

function reenter(memory: RunMemory, step: StepRun): void {
  step.state = { kind: 'open' }
  step.row.scope.done.delete(step.node.id)
  memory.observer?.begun(step)
}
