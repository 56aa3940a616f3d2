import { ApiError, type EffectStep } from '@opsplane/contracts'
import { CallFailure, type PlatformCaller } from '@opsplane/http'
import { z } from 'zod'
import type { StepError } from '../../engine/history.js'
import type { Outcome } from '../../engine/signal.js'
import type { Origin, RunIdentity } from '../model.js'

/** One attempt at an effect elsewhere. */
export interface EffectCall<Step extends EffectStep = EffectStep> {
  run: RunIdentity
  origin: Origin
  step: Step
  /** The step's fields as they came out, of what the engine has as its template. */
  input: unknown
  /** The same in every attempt: by it the other side knows a repetition. */
  key: string
  timeoutMs: number
  /** The grant it acts with; null where it has no rights. */
  grant: string | null
  /** Who that is. */
  userId: string
  /** Of its span, where it is traced. */
  traceparent?: string | undefined
  /** Values that people are not shown where what came of it has them. */
  conceal(secrets: readonly string[]): void
  /** Aborts when the attempt is no longer asked for. */
  signal: AbortSignal
}

/** Resolves with what came of it; what it throws is read by `failureOf`. */
export type Effect<Step extends EffectStep> = (call: EffectCall<Step>) => Promise<unknown>

/** An attempt that failed, in the words of its kind. */
export class EffectFailure extends Error {
  constructor(readonly error: StepError) {
    super(error.message)
  }
}

export const effectFailure = (code: string, message: string, more: Partial<StepError> = {}): EffectFailure =>
  new EffectFailure({ code, message, retryable: false, ...more })

/** As what the platform is called by an effect. */
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

/** Whether an answer leaves open if the effect was had, or will be: a repetition with the same key finds out. */
export const isUncertainStatus = (status: number): boolean => status >= 500 || uncertainStatuses.has(status)

/** What an attempt has thrown. Anything unknown is a fault of ours, and worth another attempt. */
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
