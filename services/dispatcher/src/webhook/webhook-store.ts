import type { Webhook } from '@opsplane/contracts'
import type { Aggregate, EventStore } from '@opsplane/eventstore'
import { type WebhookCommand, type WebhookState, webhook } from './domain.js'

export type WebhookAggregate = Aggregate<WebhookState, WebhookCommand, Webhook>

/** Webhooks as the store keeps them. The count of failures lives elsewhere: see `withFailures`. */
export function webhookAggregate(store: EventStore): WebhookAggregate {
  return store.aggregate(webhook, {
    present: (state, version): Webhook => ({ ...webhook.expose(state), consecutive_failures: 0, version }),
  })
}
