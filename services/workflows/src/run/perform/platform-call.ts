import { ApiError, type BackendName, ErrorEnvelope } from '@opsplane/contracts'
import type { Delegations, ServiceAnswer, ServiceClient, ServiceRequest } from '@opsplane/http'
import { type EffectCall, failed } from './effect.js'

export interface PlatformCall extends Pick<ServiceRequest, 'method' | 'path' | 'body'> {
  service: BackendName
}

/** Calls other services in the name of whoever published the workflow. */
export type CallPlatform = (call: EffectCall, request: PlatformCall) => Promise<ServiceAnswer>

export interface PlatformOptions {
  clients: ReadonlyMap<BackendName, Pick<ServiceClient, 'request'>>
  delegations: Pick<Delegations, 'actingBy'>
}

/** Where the rights of the publisher are gone the run ends there: no attempt fares better. */
const rightsGone = new Set(['token_expired', 'workspace_forbidden', 'invalid_token'])

/** Gives what is answered below 400, and throws the error of any other answer. */
export function createCallPlatform({ clients, delegations }: PlatformOptions): CallPlatform {
  return async ({ run, grant, key, timeoutMs, signal }, { service, ...request }) => {
    const client = clients.get(service)
    if (!client) throw failed('service_unavailable', `${service} is not there.`, { retryable: true })
    if (grant === null) throw failed('forbidden', 'Nobody has given this run the right to call the platform.')
    const answer = await client
      .request({
        ...{ ...request, timeoutMs, signal, causationId: run.id },
        issuer: delegations.actingBy(grant, { id: run.workflowId, name: run.workflowName }),
        ...(request.method !== 'GET' && { headers: { 'idempotency-key': key } }),
      })
      .catch((error: unknown) => {
        if (error instanceof ApiError && rightsGone.has(error.code))
          throw failed('rights_gone', 'Whoever published the workflow may not act here any more.', {
            details: { code: error.code },
          })
        throw error
      })
    if (answer.status < 400) return answer
    throw failureOf(answer)
  }
}

function failureOf({ status, body }: ServiceAnswer) {
  const envelope = ErrorEnvelope.safeParse(body)
  if (!envelope.success)
    return failed('upstream_error', `The answer was ${status}.`, {
      retryable: status >= 500,
      details: { status },
    })
  const { code, message, retryable, details } = envelope.data.error
  return failed(code, message, {
    retryable,
    details: { status, ...(details.length > 0 && { errors: details }) },
  })
}
