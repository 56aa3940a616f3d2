import { idTime, stringifyExact } from '@opsplane/contracts'
import { findEventCause } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { deriveDeliveryId } from '../delivery-id.js'
import type { NewDelivery } from '../enqueue/fan-out-statement.js'
import type { Batch, IncomingEvent } from '../events/batch.js'
import { type DeliveryJob, formatBody, type StartedAttempt } from '../job.js'
import { computeOrderingKey } from '../ordering/ordering.js'
import { isBeyondRetention } from '../retention/retention-policy.js'
import { findMatches } from './matching.js'

/** A delivery to enqueue: its row, and the job that sends it. */
export interface DeliveryDraft {
  incoming: IncomingEvent
  row: NewDelivery
  job: DeliveryJob
  /** Set if its first attempt has started or is queued. */
  started: StartedAttempt | undefined
}

export interface DraftOptions {
  /** Monotonic milliseconds. */
  now(): number
  /** Unix milliseconds. */
  nowMs(): number
  leaseMs: number
  /** Retention of deliveries in days: see ADR 015. */
  keptDays: number
  log: Logger
}

/** The deliveries of a batch, one per matching pair of event and webhook. */
export function draftDeliveries(batch: Batch, options: DraftOptions): DeliveryDraft[] {
  return withoutLate(batch.incoming, options).flatMap((incoming) => {
    const { event, origin, traceparent } = incoming
    const matches = findMatches(batch.webhooksOf(event), event, origin)
    if (matches.length === 0) return []
    const data = stringifyExact(matches[0]?.body.data)
    const bytes = Buffer.byteLength(batch.jsonOf(event))
    const createdAt = new Date(idTime(event.id)).toISOString()
    return matches.map(({ subscriber: { target }, body }): DeliveryDraft => {
      const id = deriveDeliveryId(event.id, target.id)
      const orderingKey = computeOrderingKey(target.orderingKey, body)
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
        created_at: createdAt,
      }
      const job: DeliveryJob = {
        ...{ deliveryId: id, webhookId: target.id, workspaceId: event.workspaceId, target },
        ...{ bytes, queueClass: 'first', orderingKey },
        content: {
          id: event.id,
          type: event.type,
          text: formatBody(body, data),
          cause: findEventCause(event),
        },
        traceparent,
        ...{ attempts: 0, cycleBase: 0, sendBefore: options.now() + options.leaseMs * 0.9 },
      }
      return { incoming, row, job, started: undefined }
    })
  })
}

function withoutLate(
  incoming: readonly IncomingEvent[],
  { keptDays, nowMs, log }: DraftOptions,
): readonly IncomingEvent[] {
  const inTime = incoming.filter(({ event }) => !isBeyondRetention(event.id, nowMs(), keptDays))
  const late = incoming.length - inTime.length
  if (late > 0) log.warn({ events: late }, 'events older than the retention of deliveries are not delivered')
  return inTime
}

/** Keeps drafts with a started attempt, even if their webhook no longer exists; the others come from `now`. */
export function keepStarted(before: DeliveryDraft[], now: DeliveryDraft[]): DeliveryDraft[] {
  const started = new Map(before.filter((draft) => draft.started).map((draft) => [draft.row.id, draft]))
  const others = now.filter(({ row }) => !started.has(row.id))
  return [...started.values(), ...others]
}
