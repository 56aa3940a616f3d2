import { leastId } from '@opsplane/contracts'
import { and, eq, gte, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import { ofWebhook } from '../delivery/queries.js'
import { deliveries, type replayJobs } from '../schema.js'

export type ReplayJobRow = typeof replayJobs.$inferSelect
export type Selection = Pick<
  ReplayJobRow,
  'workspaceId' | 'webhookId' | 'statuses' | 'eventType' | 'fromTime' | 'toTime'
> & { environment: Parameters<typeof ofWebhook>[0]['environment'] }

/**
 * The deliveries a replay job is about: original ones, so that an event is sent once per job. A failed one that
 * was replayed since, and has not failed again, needs no replay.
 */
export function selected(selection: Selection) {
  const { statuses, eventType, fromTime, toTime } = selection
  return and(
    ofWebhook(selection, selection.webhookId),
    isNull(deliveries.replayOf),
    inArray(deliveries.status, statuses),
    eventType === null ? undefined : eq(deliveries.eventType, eventType),
    fromTime === null ? undefined : gte(deliveries.id, leastId('delivery', Date.parse(fromTime))),
    lt(deliveries.id, leastId('delivery', Date.parse(toTime))),
    or(
      eq(deliveries.status, 'succeeded'),
      sql`not exists (select 1 from deliveries r where r.event_id = ${deliveries.eventId}
        and r.webhook_id = ${deliveries.webhookId} and r.replay_of is not null and r.status <> 'failed')`,
    ),
  )
}
