import { minId } from '@opsplane/contracts'
import { and, eq, gte, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm'
import { causeSql, currentFailureSql } from '../delivery/failures/current-failures.js'
import { belongsToWebhook } from '../delivery/queries.js'
import { deliveries, type replayJobs } from '../schema.js'

export type ReplayJobRow = typeof replayJobs.$inferSelect
export type Selection = Pick<
  ReplayJobRow,
  'workspaceId' | 'webhookId' | 'statuses' | 'eventType' | 'fromTime' | 'toTime' | 'cause' | 'toPosition'
> & { environment: Parameters<typeof belongsToWebhook>[0]['environment'] }

/** Condition for the deliveries of a job. */
export const isSelected = (selection: Selection) =>
  selection.cause === null ? selectedByFilter(selection) : selectedByCause(selection, selection.cause)

/** Deliveries of a failure group that failed up to its change position; replays made by the job itself come later. */
const selectedByCause = ({ toTime, toPosition, ...selection }: Selection, cause: string) =>
  and(
    belongsToWebhook(selection, selection.webhookId),
    sql.raw(currentFailureSql('deliveries')),
    sql`${sql.raw(causeSql('deliveries'))} = ${cause}`,
    lte(sql`coalesce(${deliveries.changePosition}, 0)`, toPosition ?? 0),
    lt(deliveries.id, minId('delivery', Date.parse(toTime))),
  )

/**
 * The deliveries for a replay of a time range: only original ones, so that a job sends each event once. Excludes failed
 * deliveries that were replayed and have not failed again.
 */
function selectedByFilter(selection: Selection) {
  const { statuses, eventType, fromTime, toTime } = selection
  return and(
    belongsToWebhook(selection, selection.webhookId),
    isNull(deliveries.replayOf),
    inArray(deliveries.status, statuses),
    eventType === null ? undefined : eq(deliveries.eventType, eventType),
    fromTime === null ? undefined : gte(deliveries.id, minId('delivery', Date.parse(fromTime))),
    lt(deliveries.id, minId('delivery', Date.parse(toTime))),
    or(
      eq(deliveries.status, 'succeeded'),
      sql`not exists (select 1 from deliveries r where r.event_id = ${deliveries.eventId}
        and r.webhook_id = ${deliveries.webhookId} and r.replay_of is not null and r.status <> 'failed')`,
    ),
  )
}
