import { type PlatformEvent, stringifyExact, type TenantScope, tenantKey } from '@opsplane/contracts'
import type { EventOrigin, UnreadEvent } from '@opsplane/eventstore'
import type { EventPosition } from '../match/matching.js'
import type { TenantWebhooks } from '../match/webhook-index.js'

/** An event as it came. */
export interface ArrivedEvent {
  unread: UnreadEvent
  /** Null when the message does not say. */
  origin: EventPosition | null
  /** Of its span, where it is followed. */
  traceparent?: string | undefined
  /** It was handed to a consumer before, which may have sent it. */
  redelivered: boolean
}

/** An event that some webhook may subscribe to. */
export interface IncomingEvent extends Omit<ArrivedEvent, 'unread'> {
  event: PlatformEvent
  /** Where it stands among those that came with it. */
  place: number
}

/** Events, and the webhooks they are matched with. */
export interface Batch {
  incoming: readonly IncomingEvent[]
  /** Of all events of the batch, those without a subscriber included. */
  origins: EventPosition[]
  tenants: TenantWebhooks[]
  webhooksOf(tenant: TenantScope): TenantWebhooks
  jsonOf(event: PlatformEvent): string
}

/** What a consumer has of its events, by the event. */
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

/** Whose events these are, each tenant once. */
export const findTenants = (arrived: readonly ArrivedEvent[]): TenantScope[] => [
  ...new Map(arrived.map(({ unread }) => [tenantKey(unread), unread])).values(),
]

/** Reads the events whose types have a subscriber, each once. */
export function readBatch(
  arrived: readonly ArrivedEvent[],
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
  for (const [place, each] of arrived.entries()) {
    const { unread } = each
    if (webhooksOf(unread).subscribers(unread.type).length === 0) continue
    const event = unread.read()
    // Within a batch too an event can come twice.
    if (!incoming.has(event.id)) incoming.set(event.id, { ...each, event, place })
  }
  return {
    incoming: [...incoming.values()],
    origins: arrived.flatMap(({ origin }) => origin ?? []),
    tenants,
    webhooksOf,
    jsonOf(event) {
      const text = texts.get(event.id) ?? stringifyExact(event)
      texts.set(event.id, text)
      return text
    },
  }
}
