import {
  type Environment,
  hostOfUrl,
  idTime,
  WaitingWebhooks,
  WaitingWebhooksQuestion,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'

/** A webhook with unfinished deliveries. */
export interface WaitingWebhook {
  id: string
  workspaceId: string
  environment: Environment
  name: string
  /** Host of its URL, without path and query. */
  host: string
  status: string
  /** Number of unfinished deliveries; 10000 means at least that many. */
  waiting: number
  /** Time of the event of the oldest one. */
  oldestAt: string
  /** Consecutive failed deliveries. */
  failures: number
  /** Error of the oldest delivery's last attempt; null before the first attempt or if there was a response. */
  lastError: string | null
  lastStatus: number | null
}

interface Row extends Omit<WaitingWebhook, 'oldestAt' | 'host'> {
  oldestId: string
  url: string
}

const maxCounted = 10_000

/** Webhooks of one workspace or of all, ordered by the waiting time of their oldest delivery, longest first. */
export async function findLateWebhooks(
  run: StatementRunner,
  limit: number,
  workspaceId?: string,
): Promise<WaitingWebhook[]> {
  const rows = await run.unsafe<Row[]>(waitingStatement, [limit, workspaceId ?? null])
  return rows.map(({ oldestId, url, ...row }) => ({
    ...row,
    host: hostOfUrl(url),
    oldestAt: new Date(idTime(oldestId)).toISOString(),
  }))
}

const maxShown = 50

async function countPaused(run: StatementRunner, workspaceId?: string): Promise<number> {
  const [row] = await run.unsafe<{ paused: number }[]>(pausedStatement, [workspaceId ?? null])
  return row?.paused ?? 0
}

/** For operators of the installation, and for owners; returns names and counts. */
export const waitingWebhooksRoute = ({ sql }: { sql: StatementRunner }): Route =>
  defineRoute({
    operationId: 'findLateWebhooks',
    method: 'get',
    path: '/internal/operations/webhooks',
    tag: 'Internal',
    scope: 'service',
    callers: ['settings'],
    summary: 'List the webhooks whose deliveries wait longest',
    query: WaitingWebhooksQuestion,
    response: WaitingWebhooks,
    handler: async ({ query: { workspaceId } }) => ({
      paused: await countPaused(sql, workspaceId),
      items: (await findLateWebhooks(sql, maxShown, workspaceId)).map(
        ({ id, name, workspaceId, environment, waiting, oldestAt }) => ({
          ...{ id, name, workspaceId, environment, waiting, oldestAt },
        }),
      ),
    }),
  })

const pausedStatement = `
select count(*)::int as paused from webhooks
where status = 'paused' and ($1::text is null or workspace_id = $1)`

const waitingStatement = `
with longest as materialized (
  select w.id, w.workspace_id, w.environment, w.state, oldest.*
  from webhooks w cross join lateral (
    select id as oldest_id, last_error_kind, last_response_status from deliveries
    where webhook_id = w.id and status in ('pending', 'retrying') order by id limit 1) oldest
  where $2::text is null or w.workspace_id = $2
  order by substr(oldest.oldest_id, 5, 10), w.id limit $1::int
)
select l.id, l.workspace_id as "workspaceId", l.environment, l.state->>'name' as name, l.state->>'url' as url,
  l.state->>'status' as status, l.oldest_id as "oldestId", l.last_error_kind as "lastError",
  l.last_response_status as "lastStatus", coalesce(h.consecutive_failures, 0) as failures,
  (select count(*)::int from (select from deliveries
     where webhook_id = l.id and status in ('pending', 'retrying') limit ${maxCounted}) waits) as waiting
from longest l left join webhook_health h on h.webhook_id = l.id
order by substr(l.oldest_id, 5, 10), l.id`
