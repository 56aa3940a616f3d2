import { type ArtifactStep, Execution } from '@opsplane/contracts'
import type { CallPlatform } from '@opsplane/http'
import { z } from 'zod'
import { withConcealedValues } from './concealed-values.js'
import { type Effect, effectFailure, platformCaller } from './effect.js'

const Answer = z.object({ data: Execution })

/** What no other attempt changes: the code says so itself, or what it is given is wrong. */
const final = new Set([
  'invalid_output',
  'output_too_large',
  'output_invalid',
  'artifact_suspended',
  'artifact_removed',
])

/**
 * An execution of an artifact: what it gives. By the step's key one that was recorded before is answered with, and one that
 * has failed is started again, at each attempt of the step.
 */
export const artifactEffect =
  (callPlatform: CallPlatform): Effect<ArtifactStep> =>
  async (call) => {
    const { artifact } = call.step
    const { body } = await withConcealedValues(callPlatform, call)(platformCaller(call), {
      service: 'sdk',
      method: 'POST',
      path: `/sdk/artifacts/${artifact}/invoke`,
      body: { input: call.input ?? {}, timeoutMs: timeoutMsOf(call.timeoutMs), retryFailed: true },
    })
    const { id, status, output, error } = Answer.parse(body).data
    if (status === 'completed') return output
    const code = error?.code ?? status
    throw effectFailure(code, error?.message ?? `The execution is ${status}.`, {
      retryable: !final.has(code),
      details: { executionId: id, status, ...(error?.thrown && { thrown: error.thrown }) },
    })
  }

/** So much sooner than the attempt, so that what came of it can be answered. */
const answerMs = 500
const maxMs = 300_000
const timeoutMsOf = (attemptMs: number) => Math.min(Math.max(attemptMs - answerMs, answerMs), maxMs)
