import { ApiError, type BackendName, ErrorEnvelope } from '@opsplane/contracts'
import { CallFailure } from '../calls/call-failure.js'
import type { CarriedLimits, Delegations } from '../calls/delegation.js'
import type { ServiceAnswer, ServiceClient, ServiceRequest } from '../calls/service-client.js'

/** The identity a call is made with, and the work it belongs to. */
export interface PlatformCaller
  extends Pick<ServiceRequest, 'signal' | 'timeoutMs' | 'traceparent' | 'causationId' | 'causationDepth'>,
    CarriedLimits {
  /** The grant to act by; `null` if there is none. */
  grant: string | null
  /** The same in every attempt: the called service uses it to detect a repetition. */
  key: string
}

interface PlatformCall extends Pick<ServiceRequest, 'method' | 'path' | 'body' | 'headers'> {
  service: BackendName
}

/** Returns responses below status 400, and throws a `CallFailure` for any other. */
export type CallPlatform = (caller: PlatformCaller, call: PlatformCall) => Promise<ServiceAnswer>

interface PlatformOptions {
  clients: ReadonlyMap<BackendName, Pick<ServiceClient, 'request'>>
  delegations: Pick<Delegations, 'actingBy'>
}

/** Codes returned if the grant's person has lost the rights: retries cannot succeed. */
const lostRightsCodes = new Set(['token_expired', 'workspace_forbidden', 'invalid_token'])

/** Calls services in the name of a person who has issued a grant. */
export function createCallPlatform({ clients, delegations }: PlatformOptions): CallPlatform {
  return async (caller, { service, ...request }) => {
    const { grant, key, workflow, permissions, callers, callerRights, person, ...options } = caller
    const client = clients.get(service)
    if (!client) throw new CallFailure('service_unavailable', `${service} is not there.`, { retryable: true })
    if (grant === null)
      throw new CallFailure(
        'forbidden',
        'No grant allows this to call the platform. Save or publish it again to give one.',
      )
    const answer = await client
      .request({
        ...options,
        ...request,
        issuer: delegations.actingBy(grant, { workflow, permissions, callers, callerRights, person }),
        ...(request.method !== 'GET' && { headers: { ...request.headers, 'idempotency-key': key } }),
      })
      .catch((error: unknown) => {
        throw error instanceof ApiError ? failureBefore(error) : error
      })
    if (answer.status < 400) return answer
    throw failureOf(answer)
  }
}

/** An error raised before the service responded. */
function failureBefore(cause: ApiError): CallFailure {
  const { code, message, retryable, details } = cause
  return lostRightsCodes.has(code)
    ? new CallFailure('rights_gone', 'The person this runs for has lost the right to act here.', {
        ...{ details: { code }, cause },
      })
    : new CallFailure(code, message, {
        ...{ retryable, cause },
        ...(details.length > 0 && { details: { errors: details } }),
      })
}

function failureOf({ status, body }: ServiceAnswer): CallFailure {
  const envelope = ErrorEnvelope.safeParse(body)
  if (!envelope.success)
    return new CallFailure('upstream_error', `The answer was ${status}.`, {
      retryable: status >= 500,
      details: { status },
    })
  const { code, message, retryable, details } = envelope.data.error
  return new CallFailure(code, message, {
    retryable,
    details: { status, ...(details.length > 0 && { errors: details }) },
  })
}
