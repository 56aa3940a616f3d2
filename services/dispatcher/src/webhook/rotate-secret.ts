import { randomBytes } from 'node:crypto'
import type { RotatedWebhook, RotateWebhookSecret } from '@opsplane/contracts'
import type { EventStore } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { Database, Vault } from '@opsplane/postgres'
import { withFailures } from './queries.js'
import { sealSecret } from './sealing.js'
import type { WebhookAggregate } from './webhook-store.js'

export interface RotationContext {
  database: Database
  store: EventStore
  vault: Vault
  aggregate: WebhookAggregate
}

/** Standard Webhooks requires 24 to 64 bytes. */
const secretBytes = 32

/** Rotates a webhook's secret. A generated secret is returned in the response, and nowhere else in plain text. */
export async function rotateSecret(
  { database, store, vault, aggregate }: RotationContext,
  webhookId: string,
  { secret: given, overlapSeconds }: RotateWebhookSecret,
  meta: RequestMeta,
): Promise<RotatedWebhook> {
  const secret = given ?? `whsec_${randomBytes(secretBytes).toString('base64')}`
  const sealedSecret = await sealSecret(vault, meta.tenant.workspaceId, webhookId, secret)
  const overlapEnd = new Date(Date.parse(meta.now) + overlapSeconds * 1_000)
  const overlapUntil = overlapSeconds > 0 ? overlapEnd.toISOString() : null
  const command = { kind: 'rotate_secret' as const, now: meta.now, sealedSecret, overlapUntil }
  return store.transact(
    meta,
    async (unit) => {
      const shown = await unit.handle(aggregate, webhookId, command)
      const [webhook = shown] = await withFailures(database, meta.tenant, [shown])
      return { ...webhook, secret: given === undefined ? secret : null, overlap_until: overlapUntil }
    },
    { queueKey: webhookId },
  )
}
