import { type ConnectorAction, type ConnectorTest, newId, notFound } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { OpenCall } from '../connector/calls.js'
import type { Connectors } from '../connector/connectors.js'
import type { StoredConnector } from '../connector/domain.js'
import { type Observe, observeTest } from '../health/observations.js'
import { presentAction } from '../kind/action.js'
import { CallFailure } from '../kind/call-failure.js'
import type { Call } from '../kind/kind.js'
import type { Kinds } from '../kind/kinds.js'
import { toApiError } from './errors.js'

export interface ProbeOptions {
  kinds: Kinds
  connectors: Connectors
  open: OpenCall
  observe: Observe
}

export type Probe = ReturnType<typeof createProbe>

/** Inspects a connector without invoking an action. */
export function createProbe({ kinds, connectors, open, observe }: ProbeOptions) {
  const existing = async (id: string, { tenant }: RequestMeta): Promise<StoredConnector> => {
    const found = await connectors.aggregate.find(id, tenant)
    if (!found) throw notFound()
    return found.state
  }
  const within = async <Result>(
    connector: StoredConnector,
    { tenant, principal, clientToken: token, signal, log }: RequestMeta,
    use: (call: Call) => Promise<Result>,
  ): Promise<Result> => {
    const { timeoutMs } = connector
    const invoker = { principal, token }
    const { call, end } = open(connector, {
      ...{ tenant, timeoutMs, invoker, signal: signal(), log: log(), idempotencyKey: newId('invocation') },
      cause: null,
    })
    try {
      return await use(call)
    } finally {
      end()
    }
  }

  return {
    async test(id: string, meta: RequestMeta): Promise<ConnectorTest> {
      const connector = await existing(id, meta)
      const startedMs = performance.now()
      const tested = await within(connector, meta, async (call) => {
        const { test } = kinds.named(connector.kind)
        return test(call).catch((error: unknown) => {
          const failure = call.signal.aborted ? call.signal.reason : error
          if (failure instanceof CallFailure) return toApiError(failure, call.secrets.redact)
          throw failure
        })
      })
      const latencyMs = Math.round((performance.now() - startedMs) * 100) / 100
      const ok = typeof tested === 'string'
      const status = await observe(connector, meta.tenant, observeTest(ok ? undefined : tested.cause))
      return { ok, status, latencyMs, message: ok ? tested : tested.message }
    },

    async actions(id: string, meta: RequestMeta): Promise<ConnectorAction[]> {
      const connector = await existing(id, meta)
      const actions = await within(connector, meta, (call) =>
        kinds
          .named(connector.kind)
          .actionsOf(call)
          .catch((error: unknown) => {
            const failure = call.signal.aborted ? call.signal.reason : error
            throw failure instanceof CallFailure ? toApiError(failure, call.secrets.redact) : failure
          }),
      )
      return actions.map(presentAction)
    },
  }
}
