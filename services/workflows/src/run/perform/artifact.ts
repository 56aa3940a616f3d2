import { type ArtifactStep, Execution } from '@opsplane/contracts'
import type { CallPlatform } from '@opsplane/http'
import { z } from 'zod'
import { withConcealedValues } from './concealed-values.js'
import { type Effect, effectFailure, platformCaller } from './effect.js'

const Answer = z.object({ data: Execution })

/** Error codes for which another attempt is pointless. */
const final = new Set([
  'invalid_output',
  'output_too_large',
  'output_invalid',
  'artifact_suspended',
  'artifact_removed',
])

/**
 * Runs an artifact and returns its output. Repetitions with the step's key return the recorded execution; a failed one
 * is restarted at each attempt of the step.
 */
export const artifactEffect =
  (callPlatform: CallPlatform): Effect<ArtifactStep> =>
  async (call) => {
    const { artifact } = call.step
    const { body } = await withConcealedValues(callPlatform, call)(platformCaller(call), {
      service: 'sdk',
      method: 'POST',
      path: `/sdk/artifacts/${artifact}/invoke`,
      body: { input: call.input ?? {}, timeoutMs: computeTimeoutMs(call.timeoutMs), retryFailed: true },
    })
    const { id, status, output, error } = Answer.parse(body).data
    if (status === 'completed') return output
    const code = error?.code ?? status
    throw effectFailure(code, error?.message ?? `The execution is ${status}.`, {
      retryable: !final.has(code),
      details: { executionId: id, status, ...(error?.thrown && { thrown: error.thrown }) },
    })
  }

/** How much earlier the execution times out than the attempt, so that its result can still be returned. */
const answerMs = 500
const maxMs = 300_000
const computeTimeoutMs = (attemptMs: number) => Math.min(Math.max(attemptMs - answerMs, answerMs), maxMs)
