import {
  type DeliveryBody,
  deliveryBody,
  type Filter,
  filterMatches,
  type PlatformEvent,
  patternMatches,
  type TenantScope,
} from '@opsplane/contracts'

/** What of a webhook decides which events it receives. */
export interface Subscription {
  id: string
  tenant: TenantScope
  events: readonly string[]
  filter: Filter | null
  createdAt: string
}

/** Clocks of several hosts may differ by so much: an event just after a webhook's creation is never missed. */
const clockToleranceMs = 1_000

/** The body to deliver, or undefined when the event is not for this webhook. */
export function bodyFor(subscription: Subscription, event: PlatformEvent): DeliveryBody | undefined {
  if (!isAddressed(subscription, event)) return undefined
  const body = deliveryBody(event, subscription.id)
  return subscription.filter === null || filterMatches(subscription.filter, body) ? body : undefined
}

function isAddressed(subscription: Subscription, event: PlatformEvent): boolean {
  const { tenant, events } = subscription
  return (
    tenant.workspaceId === event.workspaceId &&
    tenant.environment === event.environment &&
    events.some((pattern) => patternMatches(pattern, event.type)) &&
    !isOwnLifecycle(subscription, event) &&
    !isOlder(subscription, event)
  )
}

/** A webhook that told itself about itself would never fall silent. */
function isOwnLifecycle({ id }: Subscription, { resource }: PlatformEvent): boolean {
  return resource.type === 'webhook' && resource.id === id
}

/** Republished and late events go to the webhooks that were there when they happened. */
function isOlder({ createdAt }: Subscription, event: PlatformEvent): boolean {
  return Date.parse(event.createdAt) < Date.parse(createdAt) - clockToleranceMs
}
