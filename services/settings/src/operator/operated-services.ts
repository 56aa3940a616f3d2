import {
  type BackendName,
  backendNames,
  DroppedDeadLetter,
  RedrivenDeadLetter,
  ServiceDeadLetters,
  ServiceFigures,
  WorkspaceFigures,
} from '@opsplane/contracts'
import { type PlatformClients, readReadiness, type ServiceClient } from '@opsplane/http'
import type { Operations } from '@opsplane/service'

/** A service as seen by the operators of the installation. */
export interface OperatedService extends Operations {
  /** `up`, or the reason why the service is not ready. */
  state(): Promise<string>
}

export type OperatedServices = ReadonlyMap<BackendName, OperatedService>

/** Timeout per service in milliseconds: a stalled service is reported as such and does not delay the others. */
const timeoutMs = 3_000

/** All services: settings itself, and those with a configured address. */
export function createOperatedServices(own: Operations, neighbours: PlatformClients): OperatedServices {
  const found = new Map<BackendName, OperatedService>()
  for (const name of backendNames) {
    const client = neighbours.get(name)
    // Settings is up if this code runs, because a service that is not ready rejects requests.
    if (name === 'settings') found.set(name, { ...own, state: async () => 'up' })
    else if (client) found.set(name, operatedBy(client))
  }
  return found
}

function operatedBy(client: ServiceClient): OperatedService {
  const within = () => ({ signal: AbortSignal.timeout(timeoutMs) })
  const letters = '/internal/operations/dead-letters'
  return {
    async state() {
      try {
        const { status, body } = await client.request({ method: 'GET', path: '/readyz', timeoutMs })
        return readReadiness(status, body)?.state ?? `answers ${status}`
      } catch {
        return 'does not answer'
      }
    },
    figures: () => client.get('/internal/operations/figures', ServiceFigures, within()),
    workspaceFigures: (workspaceId) =>
      client.get(
        `/internal/operations/workspace-figures?${new URLSearchParams({ workspaceId })}`,
        WorkspaceFigures,
        within(),
      ),
    async deadLetters({ after, limit, consumer }) {
      const query = new URLSearchParams({
        ...{ after: String(after), limit: String(limit) },
        ...(consumer !== undefined && { consumer }),
      })
      return (await client.get(`${letters}?${query}`, ServiceDeadLetters, within())).items
    },
    redrive: async (number) =>
      (await client.post(`${letters}/redrive`, { number }, RedrivenDeadLetter, within())).letter,
    drop: async (number) =>
      (await client.post(`${letters}/drop`, { number }, DroppedDeadLetter, within())).dropped,
  }
}
