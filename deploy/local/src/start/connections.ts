import { type BackendName, backendNames } from '@opsplane/contracts'
import {
  connectionShortage,
  isPooled,
  openClient,
  readConnectionCapacity,
  shortageRemedy,
} from '@opsplane/postgres'
import { LocalRunError } from '../ports.js'
import type { Environment } from '../service-plan.js'
import { backends } from '../services.js'

/**
 * Maximum number of Postgres connections that one replica of a service opens, by its environment. Throws
 * ConfigError.
 */
export const countConnections = (name: BackendName, environment: Environment): number =>
  backends[name].connections(backends[name].loadConfig(environment))

/** Maximum number of connections for one replica of every service, per server, by host and port. */
export function connectionsByServer(plan: Readonly<Record<BackendName, Environment>>): Map<string, number> {
  const connectionCounts = new Map<string, number>()
  for (const name of backendNames) {
    const { DATABASE_URL: url = '' } = plan[name]
    // A pooler owns the connections and shares them.
    if (isPooled(url)) continue
    const { host } = new URL(url)
    connectionCounts.set(host, (connectionCounts.get(host) ?? 0) + countConnections(name, plan[name]))
  }
  return connectionCounts
}

/** Throws LocalRunError if a server has fewer free connections than the services of the plan may open. */
export async function requireConnections(
  plan: Readonly<Record<BackendName, Environment>>,
  adminUrls: readonly string[],
): Promise<void> {
  const connectionCounts = connectionsByServer(plan)
  for (const adminUrl of adminUrls) {
    const { host } = new URL(adminUrl)
    const room = await roomOf(adminUrl)
    const shortage = connectionShortage(connectionCounts.get(host) ?? 0, room)
    if (shortage) throw new LocalRunError(`${host}: ${shortage}\n${shortageRemedy}.`)
  }
}

async function roomOf(adminUrl: string) {
  const sql = openClient(adminUrl, { schema: 'public', max: 1 })
  try {
    return await readConnectionCapacity(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
