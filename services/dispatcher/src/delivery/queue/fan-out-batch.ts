import { type PlatformEvent, stringifyExact, type TenantScope, tenantKey } from '@opsplane/contracts'
import type { UnreadEvent } from '@opsplane/eventstore'
import type { DeliveryJob, Started } from '../job.js'
import type { NewDelivery } from './fan-out-statement.js'
import type { EventOrigin } from './matching.js'
import type { TenantWebhooks } from './webhook-index.js'

/** An event as it came. */
export interface ArrivedEvent {
  unread: UnreadEvent
  /** Null when the message does not say. */
  origin: EventOrigin | null
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

export interface DeliveryDraft {
  incoming: IncomingEvent
  row: NewDelivery
  job: DeliveryJob
  /** Its first attempt has been started, or has its place in the queues. */
  started: Started | undefined
}

/** Events, and the webhooks they are matched with. */
export interface Batch {
  incoming: readonly IncomingEvent[]
  /** Of all events of the batch, those without a subscriber included. */
  origins: EventOrigin[]
  tenants: TenantWebhooks[]
  webhooksOf(tenant: TenantScope): TenantWebhooks
  jsonOf(event: PlatformEvent): string
}

/** Reads the events whose types have a subscriber, each once. */
export function buildBatch(arrived: readonly ArrivedEvent[], tenants: TenantWebhooks[]): Batch {
  const byTenant = new Map(tenants.map((webhooks) => [tenantKey(webhooks.tenant), webhooks]))
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
