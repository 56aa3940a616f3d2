import { hostOfUrl, idTime } from '@opsplane/contracts'
import { openClient } from '@opsplane/postgres'
import { databaseOf } from './data-database.js'
import { explainDatabaseError, type Target } from './ops-target.js'
import { schemaOf } from './ops-tasks.js'

/** A webhook with deliveries that have not ended. */
export interface WaitingWebhook {
  id: string
  workspaceId: string
  environment: string
  name: string
  /** Where it sends to, without path and query. */
  host: string
  status: string
  /** Deliveries that have not ended; 10000 stands for more. */
  waiting: number
  /** When the event of the oldest of them happened. */
  oldestAt: string
  /** Failed deliveries in a row. */
  failures: number
  /** Why the last attempt of the oldest one failed; null before the first and after an answer. */
  lastError: string | null
  lastStatus: number | null
}

interface Row extends Omit<WaitingWebhook, 'oldestAt' | 'host'> {
  oldestId: string
  url: string
}

const service = 'dispatcher'
const mostCounted = 10_000

/** Webhooks of all workspaces by how long their oldest delivery waits, the longest first. Throws OpsError. */
export async function listWaitingWebhooks(target: Target, limit: number): Promise<WaitingWebhook[]> {
  const databaseUrl = target.databaseUrl()
  const sql = openClient(await databaseOf(service, databaseUrl), { schema: schemaOf(service), max: 1 })
  try {
    const rows = await sql.unsafe<Row[]>(waitingStatement, [limit])
    return rows.map(({ oldestId, url, ...row }) => ({
      ...row,
      host: hostOfUrl(url),
      oldestAt: new Date(idTime(oldestId)).toISOString(),
    }))
  } catch (error) {
    throw explainDatabaseError(error, databaseUrl)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const waitingStatement = `
with longest as materialized (
  select w.id, w.workspace_id, w.environment, w.state, oldest.*
  from webhooks w cross join lateral (
    select id as oldest_id, last_error_kind, last_response_status from deliveries
    where webhook_id = w.id and status in ('pending', 'retrying') order by id limit 1) oldest
  order by substr(oldest.oldest_id, 5, 10), w.id limit $1::int
)
select l.id, l.workspace_id as "workspaceId", l.environment, l.state->>'name' as name, l.state->>'url' as url,
  l.state->>'status' as status, l.oldest_id as "oldestId", l.last_error_kind as "lastError",
  l.last_response_status as "lastStatus", coalesce(h.consecutive_failures, 0) as failures,
  (select count(*)::int from (select from deliveries
     where webhook_id = l.id and status in ('pending', 'retrying') limit ${mostCounted}) waits) as waiting
from longest l left join webhook_health h on h.webhook_id = l.id
order by substr(l.oldest_id, 5, 10), l.id`
