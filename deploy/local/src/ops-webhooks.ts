import { findLateWebhooks, type WaitingWebhook } from '@opsplane/dispatcher'
import { openClient } from '@opsplane/postgres'
import { findDatabaseUrl } from './data-database.js'
import { explainDatabaseError, type Target } from './ops-target.js'
import { findSchema } from './ops-tasks.js'

export type { WaitingWebhook } from '@opsplane/dispatcher'

const service = 'dispatcher'

/** Webhooks of all workspaces by the age of their oldest waiting delivery, oldest first. Throws OpsError. */
export async function listWaitingWebhooks(target: Target, limit: number): Promise<WaitingWebhook[]> {
  const databaseUrl = target.databaseUrl()
  const sql = openClient(await findDatabaseUrl(service, databaseUrl), { schema: findSchema(service), max: 1 })
  try {
    return await findLateWebhooks(sql, limit)
  } catch (error) {
    throw explainDatabaseError(error, databaseUrl)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
