import type { PlatformEvent } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { deliveryIdOf, idTimeMs } from '../delivery-id.js'
import type { DeliveryJob } from '../dispatch.js'
import { orderingKeyOf, putInOrder } from '../ordering/ordering.js'
import type { Line } from '../ordering/turn-statement.js'
import type { DeliveryDays } from '../retention/delivery-days.js'
import { comesTooLate } from '../retention/retention-policy.js'
import { insertBatch, type NewDelivery } from './fan-out-statement.js'
import { createFanOutWriter, type FanOutWriterOptions } from './fan-out-writer.js'
import { createFirstAttempts, type FirstAttemptOptions, type Started } from './first-attempts.js'
import { bodyText, matchesOf, type Origin } from './matching.js'
import { type TenantWebhooks, tenantKey, type WebhookIndex } from './webhook-index.js'

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

export interface FanOutOptions extends FirstAttemptOptions, Omit<FanOutWriterOptions, 'insert'> {
  database: Database
  days: DeliveryDays
  index: WebhookIndex
  /** Days the deliveries of a day are kept: see ADR 015. */
  keptDays: number
  log: Logger
  /** Deliveries wait for their turn. */
  waits(lines: Line[]): void
  /** Deliveries are due that found no room. */
  left(): void
}

export interface Draft {
  incoming: Incoming
  row: NewDelivery
  job: DeliveryJob
  /** Its first attempt has been started, or has its place in the queues. */
  started: Started | undefined
}

const mostTries = 20

/**
 * Turns events into deliveries. First attempts of plain deliveries start straight from the message; a statement then writes
 * the rows of the batch, with what has succeeded by then. What finds no room in memory is left to whoever asks.
 */
export function createFanOut(options: FanOutOptions) {
  const { database, days, index } = options
  const first = createFirstAttempts(options)
  const write = createFanOutWriter({
    ...options,
    insert: (rows) =>
      days.inserting(
        rows.deliveries.map(({ id }) => idTimeMs(id)),
        () => insertBatch(database.sql, rows),
      ),
  })

  return async (incoming: Incoming[], places: () => Promise<string[]>): Promise<void> => {
    const inTime = withoutLate(options, distinct(incoming))
    const tenants = [...new Map(inTime.map(({ event }) => [tenantKey(event), event])).values()]
    let drafts: Draft[] = []
    try {
      for (let tries = 1; ; tries++) {
        const batch = batchOf(inTime, [...(await index.of(tenants)).values()])
        drafts = merge(drafts, draftsOf(options, batch))
        const lines = await putInOrder(
          drafts,
          incoming.map(({ event }) => event),
          places,
        )
        first.start(drafts, batch)
        await first.settle(drafts)
        const written = await write(drafts, batch)
        if (written) {
          for (const webhooks of batch.tenants) webhooks.checkedAt = options.now()
          first.committed(drafts, written)
          if (lines.length > 0) options.waits(lines)
          if (drafts.some(({ row }) => !row.waits && row.lease_ms === null)) options.left()
          return
        }
        if (tries === mostTries) throw new Error('webhooks change faster than events are fanned out')
        first.letGo(drafts)
        index.forget(tenants)
      }
    } catch (error) {
      first.letGo(drafts)
      throw error
    }
  }
}

/** Within a batch too an event can come twice. */
function distinct(incoming: Incoming[]): Incoming[] {
  return [...new Map(incoming.map((each) => [each.event.id, each])).values()]
}

function withoutLate({ keptDays, nowMs, log }: FanOutOptions, incoming: Incoming[]): Incoming[] {
  const inTime = incoming.filter(({ event }) => !comesTooLate(event.id, nowMs(), keptDays))
  const late = incoming.length - inTime.length
  if (late > 0) log.warn({ events: late }, 'events older than the retention of deliveries are not delivered')
  return inTime
}

/** Events, and the webhooks they are matched with. */
export interface Batch {
  incoming: readonly Incoming[]
  origins: Origin[]
  tenants: TenantWebhooks[]
  webhooksOf(event: PlatformEvent): TenantWebhooks
  jsonOf(event: PlatformEvent): string
}

function batchOf(incoming: readonly Incoming[], tenants: TenantWebhooks[]): Batch {
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

/** What has been started stays, even if its webhook is not there any more; the rest goes by what is known now. */
function merge(before: Draft[], now: Draft[]): Draft[] {
  const started = new Map(before.filter((draft) => draft.started).map((draft) => [draft.row.id, draft]))
  const others = now.filter(({ row }) => !started.has(row.id))
  return [...started.values(), ...others]
}

function draftsOf(options: FanOutOptions, batch: Batch): Draft[] {
  return batch.incoming.flatMap((incoming) => {
    const { event, origin, traceparent } = incoming
    const matches = matchesOf(batch.webhooksOf(event), event, origin)
    if (matches.length === 0) return []
    const data = JSON.stringify(matches[0]?.body.data)
    const bytes = Buffer.byteLength(batch.jsonOf(event))
    return matches.map(({ subscriber: { target }, body }): Draft => {
      const id = deliveryIdOf(event.id, target.id)
      const orderingKey = orderingKeyOf(target.orderingKey, body)
      const row: NewDelivery = {
        id,
        workspace_id: event.workspaceId,
        environment: event.environment,
        webhook_id: target.id,
        event_id: event.id,
        event_type: event.type,
        url: target.url,
        bytes,
        lease_ms: null,
        waits: orderingKey !== null,
        ordering_key: orderingKey,
        ordering_place: null,
        created_at: new Date(idTimeMs(event.id)).toISOString(),
      }
      const job: DeliveryJob = {
        ...{ deliveryId: id, webhookId: target.id, workspaceId: event.workspaceId, target },
        ...{ bytes, lane: 'first', orderingKey },
        content: { id: event.id, type: event.type, text: bodyText(body, data) },
        traceparent,
        ...{ attempts: 0, cycleBase: 0, sendBefore: options.now() + options.leaseMs * 0.9 },
      }
      return { incoming, row, job, started: undefined }
    })
  })
}
