import type { Page, TenantScope, Webhook } from '@opsplane/contracts'
import { type Database, keysetPage } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { webhookHealth, webhooks } from '../schema.js'
import { belongsToTenant } from '../tenant-rows.js'
import type { WebhookAggregate } from './webhook-store.js'

export interface ListWebhooks {
  tenant: TenantScope
  status?: string | undefined
  limit: number
  after?: string | undefined
  direction: 'asc' | 'desc'
  binding: string
  cursors: CursorCodec
  aggregate: WebhookAggregate
}

export async function listWebhooks({ db }: Database, options: ListWebhooks): Promise<Page<Webhook>> {
  const { tenant, limit, after, direction, binding, cursors, aggregate, status } = options
  const page = await keysetPage(db, {
    table: webhooks,
    tenant,
    where: status === undefined ? [] : [eq(webhooks.status, status)],
    sort: { column: webhooks.createdAt, direction },
    ...{ limit, after, binding, cursors, present: aggregate.present },
  })
  return { ...page, items: await withFailures({ db }, tenant, page.items) }
}

/** The present number of webhooks. */
export async function countWebhooks({ db }: Pick<Database, 'db'>, tenant: TenantScope): Promise<number> {
  return db.$count(webhooks, belongsToTenant(webhooks, tenant))
}

/** Adds the number of consecutive failures, which is stored separately from the webhook. */
export async function withFailures(
  { db }: Pick<Database, 'db'>,
  tenant: TenantScope,
  items: Webhook[],
): Promise<Webhook[]> {
  if (items.length === 0) return []
  const ids = items.map(({ id }) => id)
  const rows = await db
    .select({ id: webhooks.id, failures: webhookHealth.consecutiveFailures })
    .from(webhookHealth)
    .innerJoin(
      webhooks,
      and(
        eq(webhooks.id, webhookHealth.webhookId),
        // Failures of an earlier epoch do not count.
        sql`(${webhooks.state}->>'epoch')::int = ${webhookHealth.epoch}`,
      ),
    )
    .where(and(inArray(webhooks.id, ids), belongsToTenant(webhooks, tenant)))
  const failures = new Map(rows.map((row) => [row.id, row.failures]))
  return items.map((item) => ({ ...item, consecutive_failures: failures.get(item.id) ?? 0 }))
}
