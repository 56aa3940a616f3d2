import { ApiError, type EffectStep } from '@opsplane/contracts'
import { CallFailure, type PlatformCaller } from '@opsplane/http'
import { z } from 'zod'
import type { StepError } from '../../engine/history.js'
import type { Outcome } from '../../engine/signal.js'
import type { Origin, RunIdentity } from '../model.js'

/** One attempt at an external effect. */
export interface EffectCall<Step extends EffectStep = EffectStep> {
  run: RunIdentity
  origin: Origin
  step: Step
  /** The evaluated template of the step. */
  input: unknown
  /** Idempotency key: the same in every attempt, so that the receiver recognizes a repetition. */
  key: string
  timeoutMs: number
  /** The grant the run acts with; `null` if it has no rights. */
  grant: string | null
  /** The user who issued the grant. */
  userId: string
  /** Trace context of the attempt's span, if traced. */
  traceparent?: string | undefined
  /** Masks these values when the outcome is shown. */
  conceal(secrets: readonly string[]): void
  /** Aborts when the attempt is no longer needed. */
  signal: AbortSignal
}

/** Resolves with the result; errors are translated by `toFailure`. */
export type Effect<Step extends EffectStep> = (call: EffectCall<Step>) => Promise<unknown>

/** A failed attempt, with the error of its kind of step. */
export class EffectFailure extends Error {
  constructor(readonly error: StepError) {
    super(error.message)
  }
}

export const effectFailure = (code: string, message: string, more: Partial<StepError> = {}): EffectFailure =>
  new EffectFailure({ code, message, retryable: false, ...more })

/** The identity under which an effect calls the platform. */
export const platformCaller = ({
  run,
  origin,
  grant,
  key,
  timeoutMs,
  traceparent,
  signal,
}: EffectCall): PlatformCaller => ({
  ...{ grant, key, timeoutMs, traceparent, signal, causationId: run.id, causationDepth: origin.depth },
  ...(origin.callers && { callers: origin.callers, callerRights: 'rows' as const }),
  workflow: { id: run.workflowId, name: run.workflowName },
})

const AnswerStatus = z.object({ status: z.int() })
const uncertainStatuses = new Set([408, 409, 425, 429])

/** Whether the status leaves open if the effect has happened; a repetition with the same key resolves this. */
export const isUncertainStatus = (status: number): boolean => status >= 500 || uncertainStatuses.has(status)

/** Translates an error thrown by an attempt. Unknown errors are faults of the platform, and retryable. */
export function toFailure(error: unknown): Outcome {
  if (error instanceof EffectFailure) return { ok: false, error: error.error }
  if (error instanceof CallFailure) {
    const { code, message, retryable, details } = error
    const status = AnswerStatus.safeParse(details).data?.status
    const uncertain = status === undefined ? undefined : isUncertainStatus(status)
    return {
      ok: false,
      error: {
        code,
        message,
        retryable,
        ...(details && { details }),
        ...(uncertain !== undefined && { uncertain }),
      },
    }
  }
  if (error instanceof ApiError) {
    const { code, message, details, retryable } = error
    return { ok: false, error: { code, message, retryable, ...(details.length > 0 && { details }) } }
  }
  return {
    ok: false,
    error: { code: 'internal_error', message: 'The step could not be executed.', retryable: true },
  }
}
