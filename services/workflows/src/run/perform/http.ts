import type { HttpStep } from '@opsplane/contracts'
import { answerText, redactResponse, type SecretResponse, type SendSecretRequest } from '@opsplane/http'
import { retryAfterMs } from '@opsplane/runtime'
import { z } from 'zod'
import { maxValueBytes } from '../journal-lines.js'
import { type Effect, effectFailure, isUncertainStatus } from './effect.js'

const Input = z.object({
  url: z.coerce.string(),
  headers: z.record(z.string(), z.coerce.string()).default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
})

const keptOfError = 16 * 1024

/**
 * Sends one request through the outbound guard. Returns `{ status, headers, body, bodyEncoding? }`; a status of 400 or
 * above is a failure.
 */
export function httpEffect(send: SendSecretRequest): Effect<HttpStep> {
  return async ({ step, input, key, timeoutMs, signal, run, userId, conceal }) => {
    const { url, headers, query, body } = Input.parse(input)
    const answer = await send({
      ...{ url, headers, query, body },
      ...{ method: step.method, idempotencyKey: key, timeoutMs, signal, cause: run.id },
      maxResponseBytes: maxValueBytes - keptOfError,
      user: { tenant: run.tenant, userId, consumer: `workflow/${run.workflowId}` },
    })
    conceal(answer.secrets)
    if (answer.response.status >= 400) throw httpStatusFailure(answer)
    if (answer.response.truncated)
      throw effectFailure('output_too_large', 'The answer is larger than what is kept of a value.')
    return redactResponse(answer)
  }
}

const worthAnother = new Set([408, 425, 429])

function httpStatusFailure({ response, redact }: SecretResponse) {
  const { status, headers } = response
  const { encoding, body } = answerText(response, keptOfError)
  const retryAfter = retryAfterMs(headers['retry-after'], Date.now())
  return effectFailure('http_status', `The answer was ${status}.`, {
    retryable: status >= 500 || worthAnother.has(status),
    uncertain: isUncertainStatus(status),
    details: {
      ...{ status, body: redact(body ?? '', response.body.length > keptOfError) },
      ...(encoding === 'base64' && { bodyEncoding: encoding }),
    },
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  })
}
