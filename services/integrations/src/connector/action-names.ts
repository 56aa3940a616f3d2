import { newId, type TenantScope } from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import type { Kinds } from '../kind/kinds.js'
import type { OpenCall } from './calls.js'
import type { StoredConnector } from './domain.js'

export interface ActionNamesOptions {
  kinds: Kinds
  open: OpenCall
  log: Logger
}

/**
 * The names of a connector's actions. `null` if they depend on its configuration and `further` is not set, or if they
 * cannot be read at the moment.
 */
export type ActionNames = (
  connector: StoredConnector,
  tenant: TenantScope,
  further: boolean,
) => Promise<string[] | null>

/**
 * Timeout for reading a remote document, in milliseconds. Short, because a caller that checks a definition waits for
 * it.
 */
const timeoutMs = 1_000

export function createActionNames({ kinds, open, log }: ActionNamesOptions): ActionNames {
  const read = async (connector: StoredConnector, tenant: TenantScope) => {
    const { call, end } = open(connector, {
      ...{ tenant, timeoutMs, invoker: null, cause: null, log, idempotencyKey: newId('invocation') },
    })
    return kinds.named(connector.kind).actionNames(call).finally(end)
  }
  return async (connector, tenant, further) => {
    const { actions, hasFurtherActions } = kinds.named(connector.kind)
    if (!hasFurtherActions) return actions.map(({ name }) => name)
    if (!further) return null
    return read(connector, tenant).catch((err: unknown) => {
      log.warn({ err, connector: connector.id }, 'the actions of a connector cannot be read')
      return null
    })
  }
}
