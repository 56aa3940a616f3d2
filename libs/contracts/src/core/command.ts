import type { EventSource } from '../events/event.js'
import type { Instant } from './decider.js'
import type { Actor, TenantScope } from './principal.js'

/** A response kept for replay under an Idempotency-Key. */
export interface StoredResponse {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** The Idempotency-Key of a request, carried down to the transaction that performs its effect. */
interface IdempotencyRequest {
  /** Hash over workspace, environment, principal, method, path and key. */
  key: string
  /** Hash over the request's content. */
  fingerprint: string
  /** The response the route gives for this data, with what must not be kept (plaintext secrets) removed. */
  respond(data: unknown): StoredResponse
  /** Set by what answers a repetition from what it has itself under the key. */
  isReplayed?: true
}

/** Everything about a command that is not its content. */
export interface CommandMeta {
  tenant: TenantScope
  actor: Actor
  now: Instant
  requestId: string | null
  /** Id of the event this command reacts to. */
  causationId?: string | null
  /** The client the command came from; none for what the platform does itself. */
  source?: EventSource | null
  /** Of the span the command runs in, where it is traced: its consequences belong to the same trace. */
  traceparent?: string | undefined
  /** From If-Match: the version the caller has seen. */
  expectedVersion?: number
  idempotency?: IdempotencyRequest
}

/**
 * Another request has committed the same Idempotency-Key first, so this transaction took no effect.
 * The http lib answers by replaying what the winner stored.
 */
export class IdempotencyRaceError extends Error {
  constructor(options: { cause?: unknown } = {}) {
    super('The idempotency key was committed by another request first.', options)
    this.name = 'IdempotencyRaceError'
  }
}
