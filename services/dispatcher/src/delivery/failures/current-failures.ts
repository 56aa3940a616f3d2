/** What tells failures of one webhook apart by their cause. */
export const causeSql = (delivery: string) =>
  `md5(concat_ws('|', ${delivery}.last_error_kind, ${delivery}.last_error_message))`

/**
 * The last delivery of an event to a webhook has failed: one that was replayed counts by its replay, whose success, or whose being
 * in flight, leaves nothing failed. `delivery` is the name of its table in the statement.
 */
export const currentFailureSql = (delivery: string) => `${delivery}.status = 'failed'
  and not exists (select from deliveries other
    where other.webhook_id = ${delivery}.webhook_id and other.event_id = ${delivery}.event_id
      and other.replay_of is not null and other.id <> ${delivery}.id
      and (other.status <> 'failed' or other.id > ${delivery}.id))
  and (${delivery}.replay_of is null or not exists (select from deliveries original
    where original.id = ${delivery}.replay_of and original.status <> 'failed'))`
