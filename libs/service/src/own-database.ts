import {
  type Database,
  databaseFault,
  InstallationError,
  isDatabaseUnavailable,
  openClient,
  readIdentity,
  refuseForeign,
} from '@opsplane/postgres'
import type { BackendConfig, Logger } from '@opsplane/runtime'

type Config = Pick<BackendConfig, 'databaseUrl' | 'installationId'>

/**
 * Throws InstallationError if the database belongs to another installation or is a copy. A database that is unavailable
 * or not migrated yet passes: `createReadiness` checks again, and its relay gets no lease.
 */
export async function refuseForeignDatabase(config: Config, schema: string, log: Logger): Promise<void> {
  const sql = openClient(config.databaseUrl, { schema, max: 1 })
  try {
    refuseForeign(await readIdentity(sql), config.installationId)
  } catch (error) {
    if (error instanceof InstallationError) throw error
    if (!isDatabaseUnavailable(error)) log.warn({ err: error }, 'the database does not say whose it is')
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Check of GET /readyz: the database answers and belongs to this installation. NATS is not
 * checked: without it, events wait in Postgres.
 */
export function createReadiness(
  database: Database,
  { installationId }: Config,
): () => Promise<Record<string, string>> {
  let isOwn = false
  return async () => {
    try {
      if (isOwn) await database.sql`select 1`
      else refuseForeign(await readIdentity(database.sql), installationId)
      isOwn = true
      return { database: 'up' }
    } catch (error) {
      const isForeign = error instanceof InstallationError
      return { database: isForeign ? 'belongs to another installation' : databaseFault(error) }
    }
  }
}
