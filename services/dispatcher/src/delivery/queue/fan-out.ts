import { idTime, stringifyExact, tenantKey } from '@opsplane/contracts'
import { findEventCause } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { deriveDeliveryId } from '../delivery-id.js'
import type { DeliveryJob } from '../job.js'
import { assignSequences, computeOrderingKey } from '../ordering/ordering.js'
import type { OrderingQueue } from '../ordering/release-statement.js'
import { isBeyondRetention } from '../retention/retention-policy.js'
import type { ArrivedEvent, Batch, DeliveryDraft, IncomingEvent } from './fan-out-batch.js'
import { buildBatch } from './fan-out-batch.js'
import type { NewDelivery } from './fan-out-statement.js'
import { createFanOutWriter, type FanOutWriterOptions } from './fan-out-writer.js'
import { createFirstAttempts, type FirstAttemptOptions } from './first-attempts.js'
import { findMatches, formatBody } from './matching.js'
import type { WebhookIndex } from './webhook-index.js'

export interface FanOutOptions extends FirstAttemptOptions, Omit<FanOutWriterOptions, 'after'> {
  index: WebhookIndex
  /** Days the deliveries of a day are kept: see ADR 015. */
  keptDays: number
  log: Logger
  /** Deliveries wait in ordering queues. */
  waits(queues: OrderingQueue[]): void
  /** Deliveries are due that found no room. */
  left(): void
}

const maxTries = 20

/**
 * Turns events into deliveries, and reads only those whose types have a subscriber. First attempts of plain deliveries
 * start straight from the message; a statement then writes the rows of the batch, with what has succeeded by then. What
 * finds no room in memory is left to the poller.
 */
export function createFanOut(options: FanOutOptions) {
  const { index } = options
  const first = createFirstAttempts(options)
  const write = createFanOutWriter(options)

  async function fanOut(arrived: ArrivedEvent[], sequences: () => Promise<string[]>): Promise<void> {
    const tenants = [...new Map(arrived.map(({ unread }) => [tenantKey(unread), unread])).values()]
    let drafts: DeliveryDraft[] = []
    try {
      for (let tries = 1; ; tries++) {
        const batch = buildBatch(arrived, [...(await index.of(tenants)).values()])
        drafts = merge(drafts, draftsOf(options, batch))
        const queues = await assignSequences(drafts, sequences)
        first.start(drafts, batch)
        const written = await write(drafts, batch)
        if (written) {
          for (const webhooks of batch.tenants) webhooks.checkedAt = options.now()
          first.committed(drafts, written)
          if (queues.length > 0) options.waits(queues)
          if (drafts.some(({ row }) => !row.waits && row.lease_ms === null)) options.left()
          return
        }
        if (tries === maxTries) throw new Error('webhooks change faster than events are fanned out')
        first.letGo(drafts)
        index.forget(tenants)
      }
    } catch (error) {
      first.letGo(drafts)
      throw error
    }
  }

  return {
    fanOut,
    /** Lets go of first attempts whose rows are not committed. */
    close: first.close,
  }
}

function withoutLate(
  { keptDays, nowMs, log }: FanOutOptions,
  incoming: readonly IncomingEvent[],
): readonly IncomingEvent[] {
  const inTime = incoming.filter(({ event }) => !isBeyondRetention(event.id, nowMs(), keptDays))
  const late = incoming.length - inTime.length
  if (late > 0) log.warn({ events: late }, 'events older than the retention of deliveries are not delivered')
  return inTime
}

/** What has been started stays, even if its webhook is not there any more; the rest goes by what is known now. */
function merge(before: DeliveryDraft[], now: DeliveryDraft[]): DeliveryDraft[] {
  const started = new Map(before.filter((draft) => draft.started).map((draft) => [draft.row.id, draft]))
  const others = now.filter(({ row }) => !started.has(row.id))
  return [...started.values(), ...others]
}

function draftsOf(options: FanOutOptions, batch: Batch): DeliveryDraft[] {
  return withoutLate(options, batch.incoming).flatMap((incoming) => {
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
