import {
  AttemptError,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryDetail,
  DeliveryStatus,
  deliveryBody,
  maxListedReplays,
  minId,
  notFound,
  type Page,
  PlatformEvent,
  stringifyExact,
  type TenantScope,
  type WebhookStatus,
} from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Database, Drizzle } from '@opsplane/postgres'
import { and, asc, desc, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import { deliveries, deliveryAttempts, deliveryEvents, webhooks } from '../schema.js'
import { belongsToTenant } from '../tenant-rows.js'
import type { DeliveryFilters } from './list-filters.js'
import type { DeliveryRow } from './resend/resend-rows.js'

type AttemptRow = typeof deliveryAttempts.$inferSelect

export interface ListDeliveries extends DeliveryFilters {
  tenant: TenantScope
  /** Scope of the list: one webhook, one event, or the whole tenant. */
  of: { webhookId: string; webhookStatus: WebhookStatus | null } | { eventId: string } | 'all'
  limit: number
  /** A delivery id; only older deliveries are returned. */
  after?: string | undefined
}

/** Newest first. Ids grow with time, so the id serves as position. */
export async function listDeliveries({ db }: Database, options: ListDeliveries): Promise<Page<Delivery>> {
  const { limit } = options
  const rows = await deliveriesQuery(db, options)
  const items = rows.slice(0, limit).map((row) => presentDelivery(row.delivery, row.webhookStatus))
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
}

/** Selects one row more than the page contains. */
export function deliveriesQuery(db: Drizzle, options: ListDeliveries) {
  const { tenant, of, status, eventType, limit, after } = options
  return db
    .select({ delivery: deliveries, webhookStatus: webhooks.status })
    .from(deliveries)
    .leftJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .where(
      and(
        belongsToTenant(deliveries, tenant),
        belongsTo(of),
        status && hasStatus(status, of),
        eventType && inArray(deliveries.eventType, eventType),
        after === undefined ? undefined : lt(deliveries.id, after),
        ...createdWithin(options),
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(limit + 1)
}

/**
 * The API status of a row: unfinished deliveries are `held` while their webhook is paused,
 * and `failed` if it was deleted.
 */
const shownStatus = sql`case when ${deliveries.status} not in ('pending', 'retrying') then ${deliveries.status}
  when ${webhooks.id} is null then 'failed' when ${webhooks.status} = 'paused' then 'held' else ${deliveries.status} end`

const unfinished: readonly DeliveryStatus[] = ['pending', 'retrying']

/** Compares the stored status, which is indexed; for one event, which has few deliveries, compares the API status. */
function hasStatus(shown: readonly DeliveryStatus[], of: ListDeliveries['of']) {
  const isShown = inArray(shownStatus, [...shown])
  if (of !== 'all' && 'eventId' in of) return isShown
  if (of === 'all' || of.webhookStatus === null) return and(isStored(shown), isShown)
  const isPaused = of.webhookStatus === 'paused'
  const stored = shown.flatMap((status) => {
    if (status === 'held') return isPaused ? unfinished : []
    return isPaused && unfinished.includes(status) ? [] : [status]
  })
  return inArray(deliveries.status, stored)
}

/** Unfinished deliveries of a deleted webhook match `failed` only after their rows are updated, which takes moments. */
function isStored(shown: readonly DeliveryStatus[]) {
  const stored = new Set(shown.flatMap((status) => (status === 'held' ? unfinished : [status])))
  // Same condition as the partial index, so that it is usable with any parameters.
  const isIndexed = stored.has('succeeded') ? undefined : sql`${deliveries.status} <> 'succeeded'`
  return and(inArray(deliveries.status, [...stored]), isIndexed)
}

/** Compares the time in the id, which is that of the event or replay, so that partitions by day can be pruned. */
function createdWithin({ createdAfter, createdBefore }: DeliveryFilters) {
  return [
    createdAfter && gte(deliveries.id, minId('delivery', Date.parse(createdAfter) + 1)),
    createdBefore && lt(deliveries.id, minId('delivery', Date.parse(createdBefore))),
  ].filter((condition) => typeof condition === 'object')
}

/** A delivery of this webhook, or of any webhook if none is given. Throws `not_found`. */
export async function getDelivery(
  { db }: Database,
  tenant: TenantScope,
  { deliveryId, webhookId }: { deliveryId: string; webhookId?: string },
): Promise<DeliveryDetail> {
  const scope =
    webhookId === undefined ? belongsToTenant(deliveries, tenant) : belongsToWebhook(tenant, webhookId)
  const [found] = await db
    .select({ delivery: deliveries, event: deliveryEvents.event, webhookStatus: webhooks.status })
    .from(deliveries)
    .leftJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .leftJoin(deliveryEvents, eq(deliveryEvents.eventId, deliveries.eventId))
    .where(and(scope, eq(deliveries.id, deliveryId)))
  if (!found) throw notFound()
  const rows = await db
    .select()
    .from(deliveryAttempts)
    .where(and(eq(deliveryAttempts.deliveryId, deliveryId), belongsToTenant(deliveryAttempts, tenant)))
    .orderBy(asc(deliveryAttempts.number))
  const attemptLog = rows.map(presentAttempt)
  const replays = await replaysOf(db, tenant, found)
  const last = attemptLog.at(-1)
  // The event is missing only if the delivery failed for that reason.
  const event = PlatformEvent.safeParse(found.event).data
  const body = event && stringifyExact(deliveryBody(event, found.delivery.webhookId))
  return {
    ...presentDelivery(found.delivery, found.webhookStatus),
    request:
      last && body !== undefined
        ? { method: 'POST', url: last.url, headers: last.requestHeaders, body }
        : null,
    response: last?.response ?? null,
    attemptLog,
    ...replays,
  }
}

/** The replays of a delivery, found by the index on event and webhook. */
async function replaysOf(
  db: Drizzle,
  tenant: TenantScope,
  { delivery, webhookStatus }: { delivery: DeliveryRow; webhookStatus: string | null },
): Promise<Pick<DeliveryDetail, 'replays' | 'replayCount'>> {
  const { id, webhookId, eventId } = delivery
  const rows = await db
    .select({ delivery: deliveries, count: sql<number>`count(*) over ()::int` })
    .from(deliveries)
    .where(
      and(belongsToWebhook(tenant, webhookId), eq(deliveries.eventId, eventId), eq(deliveries.replayOf, id)),
    )
    .orderBy(desc(deliveries.id))
    .limit(maxListedReplays)
  return {
    replays: rows.map(({ delivery }) => {
      const { status, createdAt, id: replayId } = presentDelivery(delivery, webhookStatus)
      return { id: replayId, status, createdAt }
    }),
    replayCount: rows[0]?.count ?? 0,
  }
}

/** The deliveries of one webhook of this tenant. */
export const belongsToWebhook = (tenant: TenantScope, webhookId: string) =>
  and(eq(deliveries.webhookId, webhookId), belongsToTenant(deliveries, tenant))

function belongsTo(of: ListDeliveries['of']) {
  if (of === 'all') return undefined
  return 'webhookId' in of ? eq(deliveries.webhookId, of.webhookId) : eq(deliveries.eventId, of.eventId)
}

/** The webhook by which deliveries are resent; `undefined` if it was deleted. */
export async function findResendTarget(
  tx: Transaction,
  tenant: { workspaceId: string; environment: string },
  id: string,
) {
  const [webhook] = await tx
    .select({
      status: webhooks.status,
      url: sql<string>`${webhooks.state}->>'url'`,
      name: sql<string>`${webhooks.state}->>'name'`,
    })
    .from(webhooks)
    .where(and(eq(webhooks.id, id), belongsToTenant(webhooks, tenant)))
  return webhook
}

/** A row in its API representation. `webhookStatus` is null if the webhook was deleted. */
export function presentDelivery(row: DeliveryRow, webhookStatus: string | null): Delivery {
  const unfinished = row.status === 'pending' || row.status === 'retrying'
  const isLost = unfinished && webhookStatus === null
  const isHeld = unfinished && webhookStatus === 'paused'
  const scheduled = row.leaseOwner === null && row.dueAt !== null && !isLost && !isHeld
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    url: row.url,
    status: isLost ? 'failed' : isHeld ? 'held' : DeliveryStatus.parse(row.status),
    attempts: row.attempts,
    lastAttemptAt: row.lastAttemptAt,
    lastResponseStatus: row.lastResponseStatus,
    lastResponseBody: row.lastResponseBody,
    lastDurationMs: row.lastDurationMs,
    lastError: isLost
      ? { kind: 'webhook_deleted', message: 'The webhook was deleted.' }
      : errorOf(row.lastErrorKind, row.lastErrorMessage),
    nextAttemptAt: scheduled ? new Date(row.dueAt ?? 0).toISOString() : null,
    webhookId: row.webhookId,
    replayOf: row.replayOf,
    createdAt: row.createdAt,
  }
}

function presentAttempt(row: AttemptRow): DeliveryAttempt {
  return {
    number: row.number,
    startedAt: row.startedAt,
    durationMs: row.durationMs,
    url: row.url,
    requestHeaders: row.requestHeaders,
    response:
      row.responseStatus === null
        ? null
        : {
            status: row.responseStatus,
            headers: row.responseHeaders ?? {},
            body: row.responseBody ?? '',
            truncated: row.responseTruncated ?? false,
          },
    error: errorOf(row.errorKind, row.errorMessage),
    dnsMs: row.dnsMs,
    connectMs: row.connectMs,
    tlsMs: row.tlsMs,
    firstByteMs: row.firstByteMs,
    totalMs: row.totalMs,
    isConnectionReused: row.isConnectionReused,
  }
}

function errorOf(kind: string | null, message: string | null): AttemptError | null {
  return kind === null ? null : AttemptError.parse({ kind, message })
}
