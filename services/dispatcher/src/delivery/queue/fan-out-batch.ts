import { type PlatformEvent, tenantKey } from '@opsplane/contracts'
import type { DeliveryJob, Started } from '../job.js'
import type { NewDelivery } from './fan-out-statement.js'
import type { Origin } from './matching.js'
import type { TenantWebhooks } from './webhook-index.js'

/** An event as it came. */
export interface Incoming {
  event: PlatformEvent
  /** Null when the message does not say. */
  origin: Origin | null
  /** Of its span, where it is followed. */
  traceparent?: string | undefined
  /** It was handed to a consumer before, which may have sent it. */
  redelivered: boolean
}

export interface Draft {
  incoming: Incoming
  row: NewDelivery
  job: DeliveryJob
  /** Its first attempt has been started, or has its place in the queues. */
  started: Started | undefined
}

/** Events, and the webhooks they are matched with. */
export interface Batch {
  incoming: readonly Incoming[]
  origins: Origin[]
  tenants: TenantWebhooks[]
  webhooksOf(event: PlatformEvent): TenantWebhooks
  jsonOf(event: PlatformEvent): string
}

export function batchOf(incoming: readonly Incoming[], tenants: TenantWebhooks[]): Batch {
  const byTenant = new Map(tenants.map((webhooks) => [tenantKey(webhooks.tenant), webhooks]))
  const texts = new Map<string, string>()
  return {
    incoming,
    origins: incoming.flatMap(({ origin }) => origin ?? []),
    tenants,
    webhooksOf(event) {
      const found = byTenant.get(tenantKey(event))
      if (!found) throw new Error(`no webhooks are known of ${tenantKey(event)}`)
      return found
    },
    jsonOf(event) {
      const text = texts.get(event.id) ?? JSON.stringify(event)
      texts.set(event.id, text)
      return text
    },
  }
}
