import { assertNever } from '@opsplane/contracts'
import { leaveState } from './active-steps.js'
import { type Frame, isUncertain, type Row, type RunMemory, type Settled, type StepRun } from './memory.js'
import { computeMove, isTolerated, type Move, toOutput } from './moves.js'
import type { Program } from './program.js'
import { abandonFrame, openPart, startNext, startRows } from './rows.js'
import { runError } from './run-error.js'

/** Applies the outcome of a step, if necessary up to the end of the run. */
export function settle(program: Program, memory: RunMemory, leaf: StepRun, outcome: Settled): void {
  leaveState(memory, leaf)
  climb(program, memory, leaf, outcome)
}

/** Like `settle`, for a step that is no longer active. */
export function climb(program: Program, memory: RunMemory, from: StepRun, outcome: Settled): void {
  let [step, settled] = [from, outcome]
  for (;;) {
    memory.meter.operations += 1
    const move = computeMove(step, settled, 0)
    record(memory, step, settled)
    if (move.to !== 'up') {
      stay(program, memory, step, { move, settled })
      return
    }
    if (move.cut) abandonFrame(memory, move.frame)
    else if (move.frame.closing) rest(step, settled)
    if (move.frame.step === null) {
      endPart(program, memory, move.frame, move.outcome)
      return
    }
    ;[step, settled] = [move.frame.step, move.outcome]
  }
}

/** Continues in the frame that contains the step, if the step's outcome does not end the frame. */
function stay(
  program: Program,
  memory: RunMemory,
  step: StepRun,
  { move, settled }: { move: Exclude<Move, { to: 'up' }>; settled: Settled },
): void {
  switch (move.to) {
    case 'next':
      step.row.position += 1
      startNext(program, memory, step.row)
      break
    case 'row':
      endRow(step.row, move.output)
      startRows(program, memory, step.row.frame)
      break
    case 'drain':
      rest(step, settled)
      break
    case 'close':
      move.frame.closing = move.outcome
      abandonFrame(memory, move.frame)
      break
    default:
      assertNever(move)
  }
}

function record(memory: RunMemory, step: StepRun, settled: Settled): void {
  memory.observer?.settled(step, settled)
  const { scope } = step.row
  if (settled.kind === 'cut') return
  if (!isLeftOpen(step, settled)) step.state = { kind: 'settled' }
  if (settled.kind === 'failed')
    scope.done.set(step.node.id, { output: null, error: settled.error, status: 'failed' })
  else scope.done.set(step.node.id, { output: settled.output, error: null, status: 'completed' })
  // The frame of a failed step is kept, so that the run can be retried.
  if (settled.kind !== 'failed' || isTolerated(step)) step.frame = null
}

/** Whether a retry continues the step: an effect with an unknown outcome, or a failed child run. */
function isLeftOpen(step: StepRun, settled: Settled): boolean {
  if (settled.kind !== 'failed' || isTolerated(step)) return false
  const { state } = step
  if (state.kind === 'waiting') return state.waiting.for === 'run'
  return isUncertain(step) && (settled.error.uncertain ?? settled.error.retryable)
}

/** No step follows in a frame that is being closed; a retry continues from here. */
function rest(step: StepRun, settled: Settled): void {
  const passes = settled.kind === 'completed' || (settled.kind === 'failed' && isTolerated(step))
  if (!passes) return
  const { row } = step
  row.position += 1
  row.current = null
  if (row.position === row.list.nodes.length) endRow(row, toOutput(settled))
}

function endRow({ frame, index }: Row, output: unknown): void {
  frame.outputs[index] = output
  frame.rows.delete(index)
}

/** Ends the main part; after a failure the `onFailure` steps follow. */
export function endPart(program: Program, memory: RunMemory, part: Frame, outcome: Settled): void {
  if (part !== memory.main || outcome.kind !== 'failed') return
  memory.failure = runError(outcome)
  if (program.onFailure) openPart(program, memory, 'onFailure')
}
