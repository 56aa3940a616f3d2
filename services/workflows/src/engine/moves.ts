import { type Frame, isInFlight, type Row, type RunMemory, type Settled, type StepRun } from './memory.js'

/** What follows in its context when a step has come out. */
export type Move =
  /** The next step of its row. */
  | { to: 'next' }
  /** Its row is through, others of the frame are not. */
  | { to: 'row'; output: unknown }
  /** The frame is to be closed: what can be abandoned is, but effects are in flight that have to finish first. */
  | { to: 'close'; frame: Frame; outcome: Settled }
  /** Nothing, as a frame around it is being closed and waits for others. */
  | { to: 'drain' }
  /** The frame has finished; `cut`: its active steps were abandoned. */
  | { to: 'up'; frame: Frame; outcome: Settled; cut: boolean }

/** `flying`: how many effects the frames still count that are over with this step. Changes nothing. */
export function computeMove(step: StepRun, settled: Settled, flying: 0 | 1): Move {
  const { row } = step
  const closing = outermostClosing(row.frame)
  if (closing?.closing) {
    const { closing: outcome } = closing
    return closing.flying === flying ? { to: 'up', frame: closing, outcome, cut: false } : { to: 'drain' }
  }
  if (settled.kind === 'stopped') return close(outermost(row.frame), settled, flying)
  if (settled.kind === 'failed' && !isTolerated(step)) return close(row.frame, settled, flying)
  if (row.position + 1 < row.list.nodes.length) return { to: 'next' }
  return rowEnd(row, toOutput(settled))
}

/** Whether the run goes on when this step has failed. */
export const isTolerated = ({ node }: StepRun): boolean => node.step.continueOnError

export const toOutput = (settled: Settled): unknown => (settled.kind === 'completed' ? settled.output : null)

function close(frame: Frame, outcome: Settled, flying: 0 | 1): Move {
  return frame.flying === flying ? { to: 'up', frame, outcome, cut: true } : { to: 'close', frame, outcome }
}

function rowEnd({ frame, index }: Row, output: unknown): Move {
  if (frame.rows.size > 1 || frame.begun < frame.total) return { to: 'row', output }
  const outputs = frame.outputs.with(index, output)
  return { to: 'up', frame, outcome: { kind: 'completed', output: frameOutput(frame, outputs) }, cut: false }
}

/** Of a frame whose rows gave these outputs. */
export function frameOutput({ step, lists }: Frame, outputs: readonly unknown[]): unknown {
  switch (step?.node.step.type) {
    case 'for_each':
      return outputs
    case 'parallel':
      return Object.fromEntries(lists.map(({ key }, index) => [key, outputs[index] ?? null]))
    default:
      return outputs[0] ?? null
  }
}

export function outermostClosing(inner: Frame): Frame | null {
  let found: Frame | null = null
  for (let frame: Frame | null = inner; frame; frame = frame.step?.row.frame ?? null)
    if (frame.closing) found = frame
  return found
}

function outermost(inner: Frame): Frame {
  let frame = inner
  while (frame.step) frame = frame.step.row.frame
  return frame
}

/** How the part of the run comes out that a step is in, if it does when the step comes out so. Changes nothing. */
export function computeEnd({ meter }: RunMemory, leaf: StepRun, outcome: Settled): Settled | null {
  const flying = isInFlight(leaf) ? 1 : 0
  let [step, settled] = [leaf, outcome]
  for (;;) {
    meter.operations += 1
    const move = computeMove(step, settled, flying)
    if (move.to !== 'up') return null
    if (move.frame.step === null) return move.outcome
    ;[step, settled] = [move.frame.step, move.outcome]
  }
}
