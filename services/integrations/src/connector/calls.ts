import type { TenantScope } from '@opsplane/contracts'
import type { ResolveSecrets } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { CallFailure } from '../kind/call-failure.js'
import type { Call, Invoker } from '../kind/kind.js'
import type { Kinds } from '../kind/kinds.js'
import { createSecrets } from '../kind/secrets.js'
import type { StoredConnector } from './domain.js'

export interface CallOptions {
  tenant: TenantScope
  /** One deadline for the whole call, including all attempts. */
  timeoutMs: number
  idempotencyKey: string
  invoker: Invoker | null
  cause: string | null
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal
  log: Logger
}

/** Starts a use of a connector; finish it with `end`. */
export type OpenCall = (connector: StoredConnector, options: CallOptions) => { call: Call; end(): void }

export function createCalls(kinds: Kinds, resolve: ResolveSecrets): OpenCall {
  return ({ id, kind, config, ownerId }, options) => {
    const { tenant, timeoutMs, idempotencyKey, invoker, cause, signal: leaving, log } = options
    const deadlineAt = performance.now() + timeoutMs
    const abortController = new AbortController()
    const expire = () => abortController.abort(timedOut())
    const leave = () => abortController.abort(cancelled())
    const timer = setTimeout(expire, timeoutMs)
    leaving?.addEventListener('abort', leave)
    if (leaving?.aborted) leave()
    const call: Call = {
      config: kinds.named(kind).config.parse(config),
      connectorId: id,
      tenant,
      invoker,
      signal: abortController.signal,
      remainingMs: () => Math.max(1, Math.floor(deadlineAt - performance.now())),
      ...{ idempotencyKey, cause },
      secrets: createSecrets(resolve, { tenant, userId: ownerId, consumer: `connector/${id}` }),
      log,
    }
    return {
      call,
      end() {
        clearTimeout(timer)
        leaving?.removeEventListener('abort', leave)
      },
    }
  }
}

const timedOut = () => new CallFailure('timeout', 'There was no complete answer in time.', { sent: true })
const cancelled = () =>
  new CallFailure('cancelled', 'The caller did not wait for the answer.', { sent: true })
