/** Groups the failures of a webhook by cause. */
export const causeSql = (delivery: string) =>
  `md5(concat_ws('|', ${delivery}.last_error_kind, ${delivery}.last_error_message))`

/**
 * True if the last delivery of an event to a webhook failed. A delivery that was replayed is represented by its replay,
 * and is not a failure while the replay is in flight or after it succeeded. `delivery` is the alias of its table in the
 * statement.
 */
export const currentFailureSql = (delivery: string) => `${delivery}.status = 'failed'
  and not exists (select from deliveries other
    where other.webhook_id = ${delivery}.webhook_id and other.event_id = ${delivery}.event_id
      and other.replay_of is not null and other.id <> ${delivery}.id
      and (other.status <> 'failed' or other.id > ${delivery}.id))
  and (${delivery}.replay_of is null or not exists (select from deliveries original
    where original.id = ${delivery}.replay_of and original.status <> 'failed'))`
