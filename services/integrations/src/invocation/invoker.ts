import {
  ApiError,
  type ConnectorResult,
  type InvokeConnector,
  invalidField,
  type JsonValue,
  newId,
  notFound,
  stringifyExact,
} from '@opsplane/contracts'
import type { RequestMeta, SpendEgress } from '@opsplane/http'
import {
  createConcurrencyLimiter,
  delay,
  type Limits,
  limitReached,
  maskValue,
  redactValue,
} from '@opsplane/runtime'
import type { OpenCall } from '../connector/calls.js'
import type { Connectors } from '../connector/connectors.js'
import type { StoredConnector } from '../connector/domain.js'
import { type Observation, type Observe, observeInvocation } from '../health/observations.js'
import { CallFailure } from '../kind/call-failure.js'
import type { Action, Call } from '../kind/kind.js'
import type { Kinds } from '../kind/kinds.js'
import { computeRetryDelayMs } from './attempts.js'
import { toApiError } from './errors.js'
import type { StoreInvocation } from './log.js'

export interface InvokerOptions {
  kinds: Kinds
  connectors: Connectors
  open: OpenCall
  keep: StoreInvocation
  observe: Observe
  limits: Limits
  spendEgress: SpendEgress
}

export type Invoke = (
  connectorId: string,
  invocation: InvokeConnector,
  meta: RequestMeta,
) => Promise<ConnectorResult>

/** An invocation in progress. */
interface Progress {
  id: string
  attempts: number
  startedMs: number
}

/** Invokes actions of connectors, with retries, and stores the outcome. */
export function createInvoker(options: InvokerOptions): Invoke {
  const { kinds, connectors, open, keep, observe, limits, spendEgress } = options
  const limiter = createConcurrencyLimiter({
    perKey: (workspaceId) => limits.of('connectorInvocations', workspaceId) || Number.POSITIVE_INFINITY,
    refusal: (max) => limitReached('connectorInvocations', max),
  })

  const perform = async (
    connector: StoredConnector,
    invocation: InvokeConnector,
    call: Call,
    progress: Progress,
  ) => {
    const action = await actionOf(kinds, connector, call, invocation.action)
    const input = action.parse(invocation.input ?? {})
    for (;;) {
      progress.attempts++
      try {
        return await action.run(call, input)
      } catch (error) {
        const failure = call.signal.aborted ? call.signal.reason : error
        if (!(failure instanceof CallFailure)) throw failure
        const repeatable = action.repeatable(input)
        const left = { policy: connector.retry, attempts: progress.attempts, remainingMs: call.remainingMs() }
        const waitMs = computeRetryDelayMs({ ...left, failure, repeatable })
        if (waitMs === undefined) throw failure
        await delay(waitMs, call.signal)
        if (call.signal.aborted) throw call.signal.reason
      }
    }
  }

  return async (connectorId, invocation, meta) => {
    const connector = (await connectors.aggregate.find(connectorId, meta.tenant))?.state
    if (!connector) throw notFound()
    refuseDisabled(connector)
    const { principal, delegate, clientToken, repetitionKey, tenant, causationId } = meta
    const progress: Progress = { id: newId('invocation'), attempts: 0, startedMs: performance.now() }
    spendEgress(tenant, Buffer.byteLength(stringifyExact(invocation.input ?? {})))
    const leave = limiter.acquire(tenant.workspaceId)
    const { call, end } = open(connector, {
      tenant,
      timeoutMs: Math.min(invocation.timeoutMs ?? connector.timeoutMs, connector.timeoutMs),
      idempotencyKey: repetitionKey ?? progress.id,
      cause: causationId ?? null,
      invoker: { principal, token: clientToken },
      // With a key the result is stored for a repeated request, so a disconnecting client does not cancel the call.
      ...(repetitionKey === undefined && { signal: meta.signal() }),
      log: meta.log(),
    })
    const { redact, redactEcho } = call.secrets
    // The value was parsed from JSON, or built from texts and numbers.
    const shown = (value: unknown) => stringifyExact(maskValue(value as JsonValue, redact))
    const entry = {
      ...{ id: progress.id, tenant, connectorId, action: invocation.action, callerId: principal.userId },
      ...{
        trigger: delegate?.by ?? 'api',
        run: delegate ? (causationId ?? delegate.run) : null,
        requestId: meta.requestId,
      },
      createdAt: meta.now,
    }
    const finish = async (response: string | null, error: InvocationError | null, seen: Observation) => {
      const durationMs = Math.round((performance.now() - progress.startedMs) * 100) / 100
      const request = shown(invocation.input ?? {})
      await Promise.all([
        keep({ ...entry, ...progress, durationMs, error, request, response }),
        observe(connector, tenant, seen),
      ]).catch((err: unknown) =>
        meta.log().error({ err }, 'the log entry of a connector invocation could not be stored'),
      )
      return durationMs
    }
    try {
      const result = await perform(connector, invocation, call, progress)
      const durationMs = await finish(shown(result), null, { health: 'up' })
      const output = redactValue(result as JsonValue, redactEcho)
      return { invocationId: progress.id, output, attempts: progress.attempts, durationMs }
    } catch (thrown) {
      if (!(thrown instanceof CallFailure)) {
        // Rejected by the kind, not by the connected system, so the health of that system remains unknown.
        if (thrown instanceof ApiError && progress.attempts > 0)
          await finish(null, thrown, { health: 'nothing' })
        throw thrown
      }
      const error = toApiError(thrown, redact, { invocationId: progress.id, attempts: progress.attempts })
      await finish(
        thrown.body === undefined ? null : redact(thrown.body, true),
        error,
        observeInvocation(thrown),
      )
      throw error
    } finally {
      leave()
      end()
    }
  }
}

type InvocationError = Pick<ApiError, 'code' | 'message'>

/** Throws `conflict` for a disabled connector. */
export function refuseDisabled({ enabled }: StoredConnector): void {
  if (enabled) return
  const message = 'The connector is turned off.'
  throw new ApiError('conflict', message, {
    details: [{ in: 'path', path: '/id', code: 'connector_disabled', message }],
  })
}

async function actionOf(kinds: Kinds, { kind }: StoredConnector, call: Call, name: string): Promise<Action> {
  const action = await kinds.named(kind).actionOf(call, name)
  if (!action) throw invalidField('/action', 'unknown_action', 'The connector has no action of this name.')
  return action
}
