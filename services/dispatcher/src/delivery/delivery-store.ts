import { idTime } from '@opsplane/contracts'
import { createBookings } from './attempt/book-slots.js'
import type { Bookings } from './attempt/rate-limit-scheduler.js'
import { createRecordBatch, type RecordBatch, type RecordingOptions } from './attempt/record-results.js'
import { type OrderingRows, releaseHeads, sweepHeads } from './ordering/release-statement.js'
import { insertBatch } from './queue/fan-out-statement.js'
import type { FanOutWriterOptions } from './queue/fan-out-writer.js'
import {
  claimDue,
  failWithoutEvent,
  nextDueIn,
  type QueueRows,
  releaseLeases,
  retakeLeases,
  tidyQueues,
} from './queue/queue-statements.js'
import { addRevisions, loadWebhooks, type WebhookRows } from './queue/webhook-index.js'
import type { DeliveryDays } from './retention/delivery-days.js'

/**
 * What one replica asks of the tables of deliveries to send them. The simulation has a twin of it in memory, and both pass the
 * same cases.
 */
export interface DeliveryStore extends WebhookRows, QueueRows, OrderingRows {
  insert: FanOutWriterOptions['insert']
  record: RecordBatch
  book: Bookings
}

export interface DeliveryStoreOptions extends RecordingOptions {
  days: DeliveryDays
  /** Names this replica on leases: the same after a restart, which so takes back what it had. */
  owner: string
  /** The consumer that fans out. */
  consumer: string
}

export function createDeliveryStore(options: DeliveryStoreOptions): DeliveryStore {
  const { database, days, owner, consumer } = options
  const { sql } = database
  return {
    loadWebhooks: (tenants) => loadWebhooks(sql, tenants),
    addRevisions: (tenants) => addRevisions(sql, tenants),
    insert: (batch) =>
      days.inserting(
        batch.deliveries.map(({ id }) => idTime(id)),
        () => insertBatch(sql, owner, batch),
      ),
    claim: (claim) => claimDue(sql, { ...claim, owner }),
    nextDueIn: (except) => nextDueIn(sql, except),
    tidy: (limit) => tidyQueues(sql, limit, consumer),
    failWithoutEvent: (ids) => failWithoutEvent(sql, owner, ids),
    release: (ids) => releaseLeases(sql, owner, ids),
    retake: () => retakeLeases(sql, owner),
    record: createRecordBatch(options),
    book: createBookings(sql),
    releaseHeads: (queues, lowWatermark) => releaseHeads(sql, queues, lowWatermark),
    sweepHeads: (after, limit, lowWatermark) => sweepHeads(sql, after, limit, lowWatermark),
  }
}
