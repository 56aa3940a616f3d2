import { type RouteRule, RouteTable } from '@opsplane/contracts'
import { RouteTree, type ServiceClient } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'

/** How requests for an operation are handled. */
export interface OperationRule extends RouteRule {
  operationId: string
}

/** How requests to one service are handled, as reported by the service. */
export interface ServiceRoutes {
  /** `undefined` until the service has reported it once. */
  table(): RouteTree<OperationRule> | undefined
  /** Requests the table, in one call shared by all that wait; resolves even if the service does not respond. */
  ask(): Promise<void>
  /** Must be called after a new connection to the service, since another version of it may be running. */
  renewed(): void
  close(): void
}

export interface ServiceRoutesOptions {
  service: string
  client: Pick<ServiceClient, 'get'>
  log: Logger
  monotonicMs: () => number
  /** Minimum milliseconds before a known table is requested again. */
  renewAfterMs?: number
}

/** While a service's table is unknown, each request to it retries, but not sooner than this after the last try. */
const retryAfterMs = 100

/**
 * Keeps the last table if a service does not respond. An outdated table grants no access: the service checks every
 * request itself, and operations missing from the table require a token and a workspace.
 */
export function createServiceRoutes(options: ServiceRoutesOptions): ServiceRoutes {
  const { service, client, log, monotonicMs, renewAfterMs = 5_000 } = options
  let table: RouteTree<OperationRule> | undefined
  let pendingFetch: Promise<void> | undefined
  let fetchStartedAt = Number.NEGATIVE_INFINITY
  let failed = false
  let renewal: NodeJS.Timeout | undefined
  let closed = false

  const fetchTable = async () => {
    fetchStartedAt = monotonicMs()
    try {
      table = buildTree(await client.get('/internal/routes', RouteTable))
      failed = false
    } catch (error) {
      if (!failed && !closed)
        log.warn({ err: error, upstream: service }, 'could not read the routes of a service')
      failed = true
    }
  }
  const refreshTable = () => {
    pendingFetch ??= fetchTable().finally(() => {
      pendingFetch = undefined
    })
    return pendingFetch
  }

  return {
    table: () => table,
    async ask() {
      if (pendingFetch === undefined && monotonicMs() - fetchStartedAt < retryAfterMs) return
      await refreshTable()
    },
    renewed() {
      if (renewal !== undefined || closed) return
      const waitMs = Math.max(0, fetchStartedAt + renewAfterMs - monotonicMs())
      renewal = setTimeout(() => {
        renewal = undefined
        void refreshTable()
      }, waitMs)
      renewal.unref()
    },
    close() {
      closed = true
      clearTimeout(renewal)
    },
  }
}

function buildTree({ routes }: RouteTable): RouteTree<OperationRule> {
  const tree = new RouteTree<OperationRule>()
  for (const { method, path, permission: _, ...rule } of routes) tree.add(method, path, rule)
  return tree
}
