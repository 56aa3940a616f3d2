import { type RouteRule, RouteTable } from '@opsplane/contracts'
import { RouteTree, type ServiceClient } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'

/** How requests for an operation are treated. */
export interface OperationRule extends RouteRule {
  operationId: string
}

/** How the gateway treats the requests of one service, as the service itself says. */
export interface ServiceRoutes {
  /** Undefined until the service has said it once. */
  table(): RouteTree<OperationRule> | undefined
  /** Asks the service, in one call for all that wait for it; resolves also when it does not answer. */
  ask(): Promise<void>
  /** To be called when a connection to the service is new: another version of it may be at its end. */
  renewed(): void
  close(): void
}

export interface ServiceRoutesOptions {
  service: string
  client: Pick<ServiceClient, 'get'>
  log: Logger
  monotonicMs: () => number
  /** A known table is asked for again no sooner than this. */
  renewAfterMs?: number
}

/** While a service is unknown, each request for it asks; but no sooner than this after the last try. */
const retryAfterMs = 100

/**
 * Keeps the last table of a service that does not answer. An outdated table grants no access: the service checks every request
 * itself, and what it does not name needs a token and a workspace.
 */
export function createServiceRoutes(options: ServiceRoutesOptions): ServiceRoutes {
  const { service, client, log, monotonicMs, renewAfterMs = 5_000 } = options
  let table: RouteTree<OperationRule> | undefined
  let asking: Promise<void> | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let failed = false
  let renewal: NodeJS.Timeout | undefined
  let closed = false

  const fetchTable = async () => {
    askedAt = monotonicMs()
    try {
      table = treeOf(await client.get('/internal/routes', RouteTable))
      failed = false
    } catch (error) {
      if (!failed && !closed)
        log.warn({ err: error, upstream: service }, 'could not read the routes of a service')
      failed = true
    }
  }
  const ask = () => {
    asking ??= fetchTable().finally(() => {
      asking = undefined
    })
    return asking
  }

  return {
    table: () => table,
    async ask() {
      if (asking === undefined && monotonicMs() - askedAt < retryAfterMs) return
      await ask()
    },
    renewed() {
      if (renewal !== undefined || closed) return
      const waitMs = Math.max(0, askedAt + renewAfterMs - monotonicMs())
      renewal = setTimeout(() => {
        renewal = undefined
        void ask()
      }, waitMs)
      renewal.unref()
    },
    close() {
      closed = true
      clearTimeout(renewal)
    },
  }
}

function treeOf({ routes }: RouteTable): RouteTree<OperationRule> {
  const tree = new RouteTree<OperationRule>()
  for (const { method, path, permission: _, ...rule } of routes) tree.add(method, path, rule)
  return tree
}
