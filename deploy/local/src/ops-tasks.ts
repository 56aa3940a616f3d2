import type { BackendName } from '@opsplane/contracts'
import { type LogStatus, logStatus, republishEvents } from '@opsplane/eventstore'
import { findDatabaseUrl } from './data-database.js'
import { connectTimeoutMs, explainDatabaseError, type Target, withNats } from './ops-target.js'
import { backends } from './services.js'

export interface OpsTask {
  target: Target
  services: readonly BackendName[]
  /** Receives results and progress, in whole lines. */
  say?(line: string): void
}

export const findSchema = (service: BackendName) => backends[service].schema

/** Rebuilds the read models of the services, each in one transaction. Throws OpsError. */
export function rebuildServices(task: OpsTask): Promise<{ service: BackendName; events: number }[]> {
  return eachService(task, async (service, onProgress) => {
    const adminUrl = await findDatabaseUrl(service, task.target.databaseUrl())
    const { events } = await backends[service].rebuild({ adminUrl, onProgress })
    task.say?.(`${service}: read models rebuilt from ${events} events`)
    return { service, events }
  })
}

export interface ReseedTask extends OpsTask {
  /** Range of positions in the service's log; defaults to the whole log. */
  fromPosition?: number
  toPosition?: number
}

/** Publishes the logs of the services to JetStream again. Throws OpsError. */
export function reseedServices(task: ReseedTask): Promise<{ service: BackendName; published: number }[]> {
  const { target } = task
  const { url, names } = target.nats()
  const { fromPosition, toPosition } = task
  return withNats(url, (link) =>
    eachService(task, async (service, onProgress) => {
      const { published } = await republishEvents({
        databaseUrl: await findDatabaseUrl(service, target.databaseUrl()),
        schema: findSchema(service),
        link,
        names,
        signatures: target.signatures(service),
        ...(fromPosition !== undefined && { fromPosition }),
        ...(toPosition !== undefined && { toPosition }),
        // Without a limit, a server without JetStream would be retried forever.
        streams: { signal: AbortSignal.timeout(connectTimeoutMs) },
        onProgress,
      })
      task.say?.(`${service}: ${published} events published`)
      return { service, published }
    }),
  )
}

/** Status of the services' logs. Throws OpsError. */
export function statusOfServices(task: OpsTask): Promise<({ service: BackendName } & LogStatus)[]> {
  return eachService(task, async (service) => ({
    service,
    ...(await logStatus({
      databaseUrl: await findDatabaseUrl(service, task.target.databaseUrl()),
      schema: findSchema(service),
    })),
  }))
}

/** Does the work for one service after the other; results before a failure are kept. */
export async function eachService<T>(
  { target, services, say }: OpsTask,
  work: (service: BackendName, onProgress: (events: number) => void) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  for (const service of services) {
    let reportedAt = performance.now()
    const onProgress = (events: number) => {
      if (performance.now() - reportedAt < progressEveryMs) return
      reportedAt = performance.now()
      say?.(`${service}: ${events} events so far`)
    }
    try {
      results.push(await work(service, onProgress))
    } catch (error) {
      throw explainDatabaseError(error, target.databaseUrl())
    }
  }
  return results
}

const progressEveryMs = 1_000
