import { type BackendName, WaitingWebhooks } from '@opsplane/contracts'
import type { PlatformClients } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { OperatedService, OperatedServices } from './operated-services.js'

export interface StatusClientOptions {
  operated: OperatedServices
  neighbours: PlatformClients
  log: Pick<Logger, 'warn'>
}

const timeoutMs = 3_000

/** Reads the status of services; `null` for a service that does not respond. */
export function createStatusClient({ operated, neighbours, log }: StatusClientOptions) {
  const resultOrNull = async <T>(service: string, answer: Promise<T>): Promise<T | null> => {
    try {
      return await answer
    } catch (error) {
      log.warn({ err: error, service }, 'a service did not report its status')
      return null
    }
  }
  return {
    services: <Figures>(figuresOf: (service: OperatedService) => Promise<Figures>) =>
      Promise.all(
        [...operated].map(async ([name, service]: [BackendName, OperatedService]) => {
          const [state, figures] = await Promise.all([
            service.state(),
            resultOrNull(name, figuresOf(service)),
          ])
          return { name, state, figures }
        }),
      ),

    /** Webhooks with waiting deliveries, of one workspace or of all. */
    async webhooks(question: { workspaceId?: string } = {}) {
      const dispatcher = neighbours.get('dispatcher')
      const signal = AbortSignal.timeout(timeoutMs)
      const path = `/internal/operations/webhooks?${new URLSearchParams(question)}`
      return dispatcher ? resultOrNull('dispatcher', dispatcher.get(path, WaitingWebhooks, { signal })) : null
    },
  }
}

export type StatusClient = ReturnType<typeof createStatusClient>
