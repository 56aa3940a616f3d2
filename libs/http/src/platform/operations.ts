import { ApiError, type BackendName, backendNames, type Permission, RouteTable } from '@opsplane/contracts'
import type { ServiceClient } from '../calls/service-client.js'

/** An operation of the platform, as described by the service that owns it. */
interface Operation {
  service: BackendName
  method: string
  /** A pattern such as `/itsm/incidents/:id`. */
  path: string
  /** Permission the operation requires; `null` if a login is enough, or if not even that is needed. */
  permission: Permission | null
}

export interface Operations {
  /** `undefined` if no reachable service has an operation with this id. */
  find(operationId: string): Promise<Operation | undefined>
  /** Whether every service of the platform has described its operations, so that an unknown one does not exist. */
  isComplete(): boolean
}

/** Minimum time before the tables are requested again. */
const keptMs = 10_000
const timeoutMs = 5_000

/** Operations of all services, requested on demand. */
export function createOperations(
  clients: ReadonlyMap<BackendName, Pick<ServiceClient, 'get'>>,
  monotonicMs: () => number,
): Operations {
  let known = new Map<string, Operation>()
  const received = new Set<BackendName>()
  let refreshedAt = Number.NEGATIVE_INFINITY
  let refreshing: Promise<void> | undefined

  async function refresh() {
    refreshedAt = monotonicMs()
    const found = new Map(known)
    await Promise.all(
      [...clients].map(async ([service, client]) => {
        // A service that does not answer keeps its previous operations.
        const signal = AbortSignal.timeout(timeoutMs)
        const table = await client.get('/internal/routes', RouteTable, { signal }).catch(() => undefined)
        if (!table) return
        received.add(service)
        for (const [id, operation] of found) if (operation.service === service) found.delete(id)
        for (const { operationId, method, path, permission } of table.routes)
          found.set(operationId, { service, method, path, permission })
      }),
    )
    known = found
  }

  return {
    async find(operationId) {
      if (!known.has(operationId) || monotonicMs() - refreshedAt > keptMs) {
        refreshing ??= refresh().finally(() => {
          refreshing = undefined
        })
        if (!known.has(operationId)) await refreshing
      }
      return known.get(operationId)
    },
    isComplete: () => backendNames.every((name) => received.has(name)),
  }
}

/** Permission an operation requires, by its id; `undefined` if there is no such operation. */
export type FindPermission = (operationId: string) => Promise<Permission | null | undefined>

/** Only reports an operation as unknown after every service has described its operations. */
export const createPermissionFinder =
  (operations: Operations): FindPermission =>
  async (operationId) => {
    const found = await operations.find(operationId)
    if (found || operations.isComplete()) return found?.permission
    throw new ApiError(
      'service_unavailable',
      `No service that answers has the operation ${operationId}. Try again.`,
    )
  }
