import type { DeliveryBody, PlatformEvent, TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import type { Target, WebhookRow } from '../webhook/target.js'
import type { DeliveryDays } from './delivery-days.js'
import { deliveryIdOf, idTimeMs } from './delivery-id.js'
import { insertDeliveries, type NewDelivery, webhooksOf } from './fan-out-statement.js'
import { bodyFor } from './matching.js'
import { orderingKeyOf, putInOrder } from './ordering.js'
import { comesTooLate } from './retention-policy.js'
import type { Line } from './turn-statement.js'

export interface NewJob {
  deliveryId: string
  target: Target
  body: DeliveryBody
}

export interface FanOutOptions {
  database: Database
  owner: string
  leaseMs: number
  days: DeliveryDays
  /** Days the deliveries of a day are kept: see ADR 015. */
  keptDays: number
  log: Logger
  nowMs(): number
  targetOf(row: WebhookRow): Target
  reserve(webhookId: string, perSecond?: number): boolean
  release(webhookId: string): void
  /** Takes a delivery that is leased to this replica, in a place reserved before. */
  submit(job: NewJob): void
  /** Deliveries wait for their turn. */
  waits(lines: Line[]): void
}

type Draft = NewJob & { event: PlatformEvent; row: NewDelivery; leased: boolean }

/**
 * Turns a batch of events into deliveries: one select, one insert. First attempts are leased to this replica in
 * that insert and go straight to its queues; what finds no room there is left to whoever asks for it.
 */
export function createFanOut(options: FanOutOptions) {
  return async (events: PlatformEvent[], places: () => Promise<string[]>): Promise<void> => {
    // Within a batch too an event can come twice.
    const distinct = [...new Map(events.map((event) => [event.id, event])).values()]
    const drafts = await match(options, withoutLate(options, distinct))
    if (drafts.length === 0) return
    const lines = await putInOrder(drafts, events, places)
    for (const draft of drafts) lease(options, draft)
    let inserted: Set<string>
    try {
      const matched = [...new Map(drafts.map(({ event }) => [event.id, event])).values()]
      const now = new Date(options.nowMs()).toISOString()
      const rows = drafts.map(({ row }) => row)
      inserted = await options.days.inserting(
        rows.map(({ id }) => idTimeMs(id)),
        () => insertDeliveries(options.database.sql, matched, rows, now),
      )
    } catch (error) {
      for (const draft of drafts) if (draft.leased) options.release(draft.target.id)
      throw error
    }
    for (const draft of drafts) {
      if (!draft.leased) continue
      // An event that comes again has its deliveries already.
      if (inserted.has(draft.deliveryId)) options.submit(draft)
      else options.release(draft.target.id)
    }
    if (lines.length > 0) options.waits(lines)
  }
}

function withoutLate({ keptDays, nowMs, log }: FanOutOptions, events: PlatformEvent[]): PlatformEvent[] {
  const inTime = events.filter(({ id }) => !comesTooLate(id, nowMs(), keptDays))
  const late = events.length - inTime.length
  if (late > 0) log.warn({ events: late }, 'events older than the retention of deliveries are not delivered')
  return inTime
}

async function match({ database, targetOf }: FanOutOptions, events: PlatformEvent[]): Promise<Draft[]> {
  const targets = new Map<string, Target[]>()
  for (const row of await webhooksOf(database.sql, tenantsOf(events))) {
    const target = targetOf(row)
    const key = tenantKey(target.tenant)
    targets.set(key, [...(targets.get(key) ?? []), target])
  }
  return events.flatMap((event) =>
    (targets.get(tenantKey(event)) ?? []).flatMap((target) => {
      const body = bodyFor(target, event)
      return body ? [draftOf(event, target, body)] : []
    }),
  )
}

function draftOf(event: PlatformEvent, target: Target, body: DeliveryBody): Draft {
  const deliveryId = deliveryIdOf(event.id, target.id)
  const row: NewDelivery = {
    id: deliveryId,
    workspace_id: event.workspaceId,
    environment: event.environment,
    webhook_id: target.id,
    event_id: event.id,
    event_type: event.type,
    url: target.url,
    status: target.status === 'active' ? 'pending' : 'held',
    due_at: null,
    lease_owner: null,
    ordering_key: orderingKeyOf(target.orderingKey, body),
    ordering_place: null,
    created_at: new Date(idTimeMs(event.id)).toISOString(),
  }
  return { deliveryId, target, body, event, row, leased: false }
}

function lease({ reserve, owner, leaseMs, nowMs }: FanOutOptions, draft: Draft) {
  // One that is sent in order waits for its turn.
  if (draft.row.status === 'held' || draft.row.ordering_key !== null) return
  draft.leased = reserve(draft.target.id, draft.target.rateLimitPerSecond ?? undefined)
  draft.row.lease_owner = draft.leased ? owner : null
  draft.row.due_at = draft.leased ? nowMs() + leaseMs + draft.target.timeoutMs : nowMs()
}

function tenantsOf(events: PlatformEvent[]): TenantScope[] {
  return [...new Map(events.map((event) => [tenantKey(event), event])).values()]
}

const tenantKey = ({ workspaceId, environment }: TenantScope) => `${workspaceId}/${environment}`
