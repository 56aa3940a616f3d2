import { createOutbound, type Outbound, type OutboundOptions } from '@opsplane/http'
import { createLogger } from '@opsplane/runtime'
import { CallFailure } from './call-failure.js'
import type { Action, Call, Kind } from './kind.js'

/** An outbound guard that allows calls to this machine, as in a local run. */
export const localOutbound = (options: Partial<OutboundOptions> = {}): Outbound =>
  createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true, ...options })

/** One use of a connector with this configuration; every secret has the same value. */
export function buildCall(kind: Kind, config: object, given: Partial<Call> & { secret?: string } = {}): Call {
  const { secret = '', ...rest } = given
  const filled = (text: string) => text.replaceAll(/\{\{.*?\}\}/g, secret)
  const limit = AbortSignal.timeout(30_000)
  return {
    config: kind.config.parse(config),
    connectorId: 'con_1',
    tenant: { workspaceId: 'ws_1', environment: 'production' },
    invoker: null,
    signal: limit,
    remainingMs: () => 30_000,
    idempotencyKey: 'key-1',
    cause: null,
    secrets: {
      fill: async (text) => filled(text),
      fillAll: async (texts) =>
        Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, filled(text)])),
      conceal: () => {},
      redact: (text) => text.replaceAll(secret, '***'),
      redactEcho: (text) => text.replaceAll(secret, '***'),
      namesIn: () => [],
    },
    log: createLogger({ service: 'integrations', level: 'silent' }),
    ...rest,
  }
}

/** A signal that aborts like the signal of a call. */
export function deadline(): { signal: AbortSignal; pass(): void; leave(): void } {
  const controller = new AbortController()
  const over = (kind: 'timeout' | 'cancelled') =>
    controller.abort(new CallFailure(kind, `${kind}.`, { sent: true }))
  return { signal: controller.signal, pass: () => over('timeout'), leave: () => over('cancelled') }
}

export function findAction(kind: Kind, name: string): Action {
  const found = kind.actions.find((action) => action.name === name)
  if (!found) throw new Error(`no action ${name}`)
  return found
}

/** The result of an action for an input as the API accepts it. */
export const perform = async (kind: Kind, name: string, call: Call, input: unknown): Promise<unknown> => {
  const action = findAction(kind, name)
  return action.run(call, action.parse(input))
}
