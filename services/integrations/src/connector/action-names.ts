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
 * The names of the actions of a connector; null where they depend on its configuration, and are not asked for `further` or
 * cannot be read now.
 */
export type ActionNames = (
  connector: StoredConnector,
  tenant: TenantScope,
  further: boolean,
) => Promise<string[] | null>

/** A document elsewhere is read within it: the caller checks a definition meanwhile. */
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
