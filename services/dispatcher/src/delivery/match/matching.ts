import {
  type DeliveryBody,
  deliveryBody,
  deliveryData,
  filterMatches,
  type PlatformEvent,
} from '@opsplane/contracts'
import type { Subscriber, TenantWebhooks } from './webhook-index.js'

/** Where an event stands in the log of the service that made it. */
export interface EventPosition {
  source: string
  position: number
}

/** A webhook that an event goes to, and the body. */
export interface Match {
  subscriber: Subscriber
  body: DeliveryBody
}

/** The webhooks of the event's tenant that it goes to; without an origin it is behind no fence. */
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

/** A webhook that reported itself about itself would never fall silent. */
function isOwnLifecycle(id: string, { resource }: PlatformEvent): boolean {
  return resource.type === 'webhook' && resource.id === id
}

/** What was fanned out before the webhook was there stays so when it comes again. */
function isFenced({ fences }: Subscriber, origin: EventPosition | null): boolean {
  const fence = origin && fences.get(origin.source)
  if (!fence) return false
  const { position } = origin
  // They ascend, and nearly every event comes after all of them.
  const run = fence.done.findLast(([first]) => first <= position)
  return position <= (run?.[1] ?? fence.floor)
}
