import type { Webhook } from '@opsplane/contracts'
import type { Aggregate, EventStore } from '@opsplane/eventstore'
import { type WebhookCommand, type WebhookState, webhook } from './domain.js'

export type WebhookAggregate = Aggregate<WebhookState, WebhookCommand, Webhook>

/** Webhooks in the event store. The failure count is stored elsewhere: see `withFailures`. */
export function webhookAggregate(store: EventStore): WebhookAggregate {
  return store.aggregate(webhook, {
    present: (state, version): Webhook => ({ ...webhook.expose(state), consecutive_failures: 0, version }),
  })
}
