import { type Frame, isInFlight, type Row, type RunMemory, type Settled, type StepRun } from './memory.js'

/** The next move in the frame after a step has finished. */
export type Move =
  /** Start the next step of the row. */
  | { to: 'next' }
  /** The row is finished, other rows of the frame are not. */
  | { to: 'row'; output: unknown }
  /** Close the frame: abandon everything except effects in flight, which must finish first. */
  | { to: 'close'; frame: Frame; outcome: Settled }
  /** Nothing to do: a surrounding frame is being closed and waits for other effects. */
  | { to: 'drain' }
  /** The frame has finished; `cut`: its active steps were abandoned. */
  | { to: 'up'; frame: Frame; outcome: Settled; cut: boolean }

/** Pure function. `flying`: number of effects in flight that end with this step and that the frames still count. */
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

/** Whether the run continues when this step has failed. */
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

/** Output of a frame whose rows returned these outputs. */
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

/**
 * The outcome of the part of the run that contains the step, if the step's outcome ends it. Does not
 * change the run.
 */
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
