import type { TenantScope } from '@opsplane/contracts'
import { epochMs } from '@opsplane/testing'
import type { WebhookState } from '../../webhook/domain.js'

export const tenant: TenantScope = { workspaceId: 'ws_1', environment: 'production' }

/** A plain webhook, an ordered one, one with a rate limit, and one with both. */
const kinds = {
  wh_plain: {},
  wh_ordered: { orderingKey: 'data.queue' },
  wh_paced: { rateLimitPerSecond: 1 },
  wh_both: { orderingKey: 'data.queue', rateLimitPerSecond: 8 },
} as const satisfies Record<string, Partial<WebhookState>>

export const webhookIds = Object.keys(kinds)

/** Every webhook subscribes to all events. */
export const webhookStates = (): WebhookState[] =>
  Object.entries<Partial<WebhookState>>(kinds).map(([id, own]) => ({
    ...{ id, name: id, url: `https://${id}.test/`, events: ['*'], headers: {}, filter: null },
    ...{ retries: 2, retryStrategy: 'exponential', timeoutMs: 3_000, retryMaxDelayMs: 8_000 },
    ...{ retrySchedule: null, rateLimitPerSecond: null, orderingKey: null },
    ...{ status: 'active', pausedReason: null, ownerId: 'usr_1', reads: [] },
    ...{ environment: tenant.environment, secrets: [], sealedHeaders: {}, epoch: 0 },
    createdAt: new Date(epochMs).toISOString(),
    updatedAt: new Date(epochMs).toISOString(),
    ...own,
  }))
