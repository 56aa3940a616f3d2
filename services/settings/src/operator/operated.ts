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

/** A service, as those who operate the installation see it. */
export interface Operated extends Operations {
  /** `up`, or why it is not ready. */
  state(): Promise<string>
}

export type AllOperated = ReadonlyMap<BackendName, Operated>

/** One service that stalls is reported so, and does not hold up the rest. */
const timeoutMs = 3_000

/** All services: settings itself, and those it has the addresses of. */
export function operatedServices(own: Operations, neighbours: PlatformClients): AllOperated {
  const found = new Map<BackendName, Operated>()
  for (const name of backendNames) {
    const client = neighbours.get(name)
    // What is not ready lets nobody in, and so is not asked.
    if (name === 'settings') found.set(name, { ...own, state: async () => 'up' })
    else if (client) found.set(name, operatedBy(client))
  }
  return found
}

function operatedBy(client: ServiceClient): Operated {
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
