import { Filter, RetryStrategy, WebhookStatus } from '@opsplane/contracts'
import { z } from 'zod'
import type { Subscription } from '../delivery/matching.js'
import type { RetryPolicy } from '../delivery/retry-timing.js'

const StoredWebhook = z.object({
  url: z.string(),
  events: z.array(z.string()),
  filter: Filter.nullable(),
  headers: z.record(z.string(), z.string()),
  sealedHeaders: z.record(z.string(), z.string()),
  secrets: z.array(z.object({ sealed: z.string(), expiresAt: z.string().nullable() })),
  retries: z.int(),
  retryStrategy: RetryStrategy,
  retryMaxDelayMs: z.int(),
  retrySchedule: z.array(z.int()).nullable(),
  // Webhooks of earlier versions lack them.
  rateLimitPerSecond: z.number().nullable().default(null),
  orderingKey: z.string().nullable().default(null),
  timeoutMs: z.int(),
  status: WebhookStatus,
  epoch: z.int(),
  createdAt: z.string(),
})

/** A webhook as the delivery path needs it. Immutable: another version is another target. */
export type Target = z.infer<typeof StoredWebhook> & Subscription & RetryPolicy & { version: number }

export interface WebhookRow {
  id: string
  workspace_id: string
  environment: string
  version: number
  state: unknown
}

const environments = z.enum(['production', 'staging', 'development'])

/** Parses webhook rows, each version once. */
export function createTargets(maxKept = 20_000): (row: WebhookRow) => Target {
  const known = new Map<string, Target>()
  return (row) => {
    const kept = known.get(row.id)
    if (kept?.version === row.version) return kept
    const target: Target = {
      ...StoredWebhook.parse(row.state),
      id: row.id,
      version: row.version,
      tenant: { workspaceId: row.workspace_id, environment: environments.parse(row.environment) },
    }
    if (known.size >= maxKept) known.clear()
    known.set(row.id, target)
    return target
  }
}
