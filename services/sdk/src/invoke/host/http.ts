import { allowsHost } from '@opsplane/contracts'
import { parseTemplateHost, redactResponse, type SendSecretRequest } from '@opsplane/http'
import { HostError } from '@opsplane/sandbox'
import { z } from 'zod'
import type { HostFunction } from './host-call.js'
import { requireSecretsUse } from './secret.js'

const Call = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  url: z.string().max(8_192),
  headers: z.record(z.string().max(200), z.string().max(16_384)).default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
  timeoutMs: z.number().int().min(1).max(300_000).optional(),
})

const maxResponseBytes = 1024 * 1024

/**
 * Sends a request through the outbound guard to a declared host, with secrets filled in. Any HTTP response
 * is a result.
 */
export const httpFunction =
  (send: SendSecretRequest): HostFunction =>
  async ({ artifact, tenant, key, signal, conceal, ...context }, argument) => {
    const { timeoutMs = context.timeoutMs, body, ...call } = Call.parse(argument)
    const { permissions } = artifact
    const host = parseTemplateHost(call.url)
    if (!allowsHost(permissions.http, host))
      throw new HostError('not_permitted', `The artifact has not declared the host ${host}.`)
    const answer = await send({
      ...{ ...call, body, signal, maxResponseBytes, idempotencyKey: key },
      timeoutMs: Math.min(timeoutMs, context.timeoutMs),
      cause: context.executionId,
      user: { tenant, userId: artifact.ownerId, consumer: `artifact/${artifact.id}` },
      checkSecret(name) {
        requireSecretsUse(context.caller)
        if (permissions.secrets.includes(name) || permissions.secretsPlain.includes(name)) return
        throw new HostError('not_permitted', `The artifact has not declared the secret ${name}.`)
      },
    })
    conceal(answer.secrets)
    if (answer.response.truncated)
      throw new HostError('response_too_large', `The answer is larger than ${maxResponseBytes} bytes.`)
    // Parsed from JSON.
    return redactResponse(answer) as never
  }
