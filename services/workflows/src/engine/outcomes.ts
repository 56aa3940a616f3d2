import type { Entry, StepError } from './history.js'
import type { RunMemory, Settled, StepRun } from './memory.js'
import { computeEnd } from './moves.js'
import type { Program } from './program.js'
import { runError, withLaterError } from './run-error.js'

/** The inputs of a decision on a step's outcome. */
export interface StepDecision {
  program: Program
  memory: RunMemory
  /** Unix milliseconds. */
  now: number
  step: StepRun
}

export function completeStep(context: StepDecision, output: unknown): Entry[] {
  const { place, node } = context.step
  const kind = node.step.type === 'stop' ? 'stopped' : 'completed'
  return [{ kind: 'completed', place, output }, ...endRunAfter(context, { kind, output })]
}

export function failStep(context: StepDecision, error: StepError): Entry[] {
  const { place } = context.step
  return [{ kind: 'failed', place, error }, ...endRunAfter(context, { kind: 'failed', error, place })]
}

/** A failure that a retry would not fix. */
export const failPermanently = (
  deciding: StepDecision,
  code: string,
  message: string,
  details?: unknown,
): Entry[] =>
  failStep(deciding, { code, message, retryable: false, ...(details !== undefined && { details }) })

/** Entries that end the run, if the outcome of the step ends it. */
export function endRunAfter({ program, memory, step }: StepDecision, settled: Settled): Entry[] {
  const outcome = computeEnd(memory, step, settled)
  return outcome ? endPartAfter(program, memory, outcome) : []
}

/** The entries that follow when the active part of the run has finished. */
export function endPartAfter(program: Program, { onFailure, failure }: RunMemory, outcome: Settled): Entry[] {
  const error = outcome.kind === 'failed' ? runError(outcome) : null
  if (onFailure && failure)
    return [{ kind: 'ended', status: 'failed', error: error ? withLaterError(failure, error) : failure }]
  if (error) return program.onFailure ? [] : [{ kind: 'ended', status: 'failed', error }]
  return [{ kind: 'ended', status: 'completed', output: 'output' in outcome ? outcome.output : null }]
}
