import { ApiError, type BackendName, backendNames, type Permission, RouteTable } from '@opsplane/contracts'
import type { ServiceClient } from '../calls/service-client.js'

/** An operation of the platform, as the service that owns it says. */
interface Operation {
  service: BackendName
  method: string
  /** A pattern such as `/itsm/incidents/:id`. */
  path: string
  /** What calling it takes; null where being logged in is enough, or not even that. */
  permission: Permission | null
}

export interface Operations {
  /** Undefined where no service that answers has one of this id. */
  find(operationId: string): Promise<Operation | undefined>
  /** Whether every service of the platform has described its operations, so that what is not found is not there. */
  isComplete(): boolean
}

/** A table is asked for again no sooner than this. */
const keptMs = 10_000
const timeoutMs = 5_000

/** What services tell of their operations, asked for as it is needed. */
export function createOperations(
  clients: ReadonlyMap<BackendName, Pick<ServiceClient, 'get'>>,
  monotonicMs: () => number,
): Operations {
  let known = new Map<string, Operation>()
  const received = new Set<BackendName>()
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined

  async function ask() {
    askedAt = monotonicMs()
    const found = new Map(known)
    await Promise.all(
      [...clients].map(async ([service, client]) => {
        // One that does not answer keeps what it has said before.
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
      if (!known.has(operationId) || monotonicMs() - askedAt > keptMs) {
        asking ??= ask().finally(() => {
          asking = undefined
        })
        if (!known.has(operationId)) await asking
      }
      return known.get(operationId)
    },
    isComplete: () => backendNames.every((name) => received.has(name)),
  }
}

/** What calling an operation takes, by its id; undefined where there is none. */
export type FindPermission = (operationId: string) => Promise<Permission | null | undefined>

/** An operation is unknown once every service has said what it has. */
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
