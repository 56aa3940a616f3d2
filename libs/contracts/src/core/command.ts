import type { EventSource } from '../events/event.js'
import type { Instant } from './decider.js'
import type { Actor, TenantScope } from './principal.js'

/** A response stored for replay under an Idempotency-Key. */
export interface StoredResponse {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** The Idempotency-Key of a request, passed down to the transaction that performs its effect. */
interface IdempotencyRequest {
  /** Hash over workspace, environment, principal, method, path and key. */
  key: string
  /** Hash over the request's content. */
  fingerprint: string
  /** The response the route returns for this data, with values that must not be stored (plaintext secrets) removed. */
  respond(data: unknown): StoredResponse
  /** Set by a handler that answered a repeated request from its own data stored under the key. */
  isReplayed?: true
}

/** Context of a command, without its content. */
export interface CommandMeta {
  tenant: TenantScope
  actor: Actor
  now: Instant
  requestId: string | null
  /** Id of the event this command reacts to. */
  causationId?: string | null
  /** The client that sent the command; absent for actions of the platform itself. */
  source?: EventSource | null
  /** W3C trace context of the span the command runs in, if traced: its consequences join the same trace. */
  traceparent?: string | undefined
  /** From If-Match: the version the caller last read. */
  expectedVersion?: number
  idempotency?: IdempotencyRequest
}

/**
 * Another request has committed the same Idempotency-Key first, so this transaction had no effect.
 * The http lib replays the response stored by that request.
 */
export class IdempotencyRaceError extends Error {
  constructor(options: { cause?: unknown } = {}) {
    super('The idempotency key was committed by another request first.', options)
    this.name = 'IdempotencyRaceError'
  }
}
