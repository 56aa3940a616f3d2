import type { Place, StepError } from '../history.js'

/** The observed result of a run in its world. */
export interface Observed {
  status: 'completed' | 'failed' | 'cancelled'
  output: unknown
  error: { code: string; step: string | null; details?: unknown } | null
  endedAt: number
  /** External effects with their times. */
  log: string[]
}

export class Failed extends Error {
  constructor(
    readonly error: StepError,
    readonly place: Place,
  ) {
    super(error.message)
  }
}
export class Stopped extends Error {
  constructor(readonly output: unknown) {
    super('stopped')
  }
}

export const error = (code: string): StepError => ({ code, message: code, retryable: false })

export const toStepError = ({ error: { code, details }, place }: Failed) => ({
  ...{ code, step: place === '' || place === '$output' ? null : place },
  ...(details !== undefined && { details }),
})
