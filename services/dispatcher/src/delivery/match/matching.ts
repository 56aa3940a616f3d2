import {
  type DeliveryBody,
  deliveryBody,
  deliveryData,
  filterMatches,
  type PlatformEvent,
} from '@opsplane/contracts'
import type { Subscriber, TenantWebhooks } from './webhook-index.js'

/** Position of an event in the log of its source service. */
export interface EventPosition {
  source: string
  position: number
}

/** A webhook that receives an event, and the body. */
export interface Match {
  subscriber: Subscriber
  body: DeliveryBody
}

/** The matching webhooks of the event's tenant. An event without an origin is not limited by fences. */
export function findMatches(
  webhooks: TenantWebhooks,
  event: PlatformEvent,
  origin: EventPosition | null,
): Match[] {
  let data: DeliveryBody['data'] | undefined
  return webhooks.subscribers(event.type).flatMap((subscriber) => {
    const { id, filter } = subscriber.target
    if (isOwnLifecycle(id, event) || isFenced(subscriber, origin)) return []
    data ??= deliveryData(event)
    const body = deliveryBody(event, id, data)
    return filter === null || filterMatches(filter, body) ? [{ subscriber, body }] : []
  })
}

/** A webhook that received events about itself would never stop sending. */
function isOwnLifecycle(id: string, { resource }: PlatformEvent): boolean {
  return resource.type === 'webhook' && resource.id === id
}

/** An event that was fanned out before the webhook existed stays excluded when it is redelivered. */
function isFenced({ fences }: Subscriber, origin: EventPosition | null): boolean {
  const fence = origin && fences.get(origin.source)
  if (!fence) return false
  const { position } = origin
  // Runs are in ascending order, and nearly every event comes after all of them.
  const run = fence.done.findLast(([first]) => first <= position)
  return position <= (run?.[1] ?? fence.floor)
}
