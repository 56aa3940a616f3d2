import { type PlatformEvent, stringifyExact, type TenantScope, tenantKey } from '@opsplane/contracts'
import type { EventOrigin, UnreadEvent } from '@opsplane/eventstore'
import type { EventPosition } from '../match/matching.js'
import type { TenantWebhooks } from '../match/webhook-index.js'

/** An event as received. */
export interface ArrivedEvent {
  unread: UnreadEvent
  /** Null if the message does not state it. */
  origin: EventPosition | null
  /** Trace context of its span, if it is traced. */
  traceparent?: string | undefined
  /** A consumer received it before and may have sent its deliveries. */
  redelivered: boolean
}

/** An event with a type that some webhook may subscribe to. */
export interface IncomingEvent extends Omit<ArrivedEvent, 'unread'> {
  event: PlatformEvent
  /** Index among the events that arrived together. */
  place: number
}

/** Events, and the webhooks to match them with. */
export interface Batch {
  incoming: readonly IncomingEvent[]
  /** Positions of all events of the batch, including those without a subscriber. */
  origins: EventPosition[]
  tenants: TenantWebhooks[]
  webhooksOf(tenant: TenantScope): TenantWebhooks
  jsonOf(event: PlatformEvent): string
}

/** Combines events with the message metadata that a consumer has for them. */
export function toArrivedEvents(
  events: readonly UnreadEvent[],
  origins: readonly EventOrigin[],
): ArrivedEvent[] {
  return events.map((unread, at) => {
    const { source = null, position = null, redelivered = true, traceparent } = origins[at] ?? {}
    const origin = source === null || position === null ? null : { source, position }
    return { unread, origin, redelivered, traceparent }
  })
}

/** The tenants of these events, without duplicates. */
export const findTenants = (arrived: readonly ArrivedEvent[]): TenantScope[] => [
  ...new Map(arrived.map(({ unread }) => [tenantKey(unread), unread])).values(),
]

/** Parses the events whose types have a subscriber, without duplicates. */
export function readBatch(
  arrivedEvents: readonly ArrivedEvent[],
  byTenant: ReadonlyMap<string, TenantWebhooks>,
): Batch {
  const tenants = [...byTenant.values()]
  const texts = new Map<string, string>()
  const webhooksOf = (tenant: TenantScope) => {
    const found = byTenant.get(tenantKey(tenant))
    if (!found) throw new Error(`no webhooks are known of ${tenantKey(tenant)}`)
    return found
  }
  const incoming = new Map<string, IncomingEvent>()
  for (const [place, each] of arrivedEvents.entries()) {
    const { unread } = each
    if (webhooksOf(unread).subscribers(unread.type).length === 0) continue
    const event = unread.read()
    // An event can also occur twice within a batch.
    if (!incoming.has(event.id)) incoming.set(event.id, { ...each, event, place })
  }
  return {
    incoming: [...incoming.values()],
    origins: arrivedEvents.flatMap(({ origin }) => origin ?? []),
    tenants,
    webhooksOf,
    jsonOf(event) {
      const text = texts.get(event.id) ?? stringifyExact(event)
      texts.set(event.id, text)
      return text
    },
  }
}
