import { idTime } from '@opsplane/contracts'
import { insertBatch } from './enqueue/fan-out-statement.js'
import type { FanOutWriterOptions } from './enqueue/fan-out-writer.js'
import {
  createQueueRows,
  type QueueRows,
  type QueueRowsOptions,
  toTenant,
} from './enqueue/queue-statements.js'
import { createWebhookRows, type WebhookRows } from './match/webhook-index.js'
import { createOrderingRows, type OrderingRows } from './ordering/release-statement.js'
import { createBookings } from './rate-limit/book-slots.js'
import type { Bookings } from './rate-limit/rate-limit-scheduler.js'
import { createRecordBatch, type RecordBatch, type RecordingOptions } from './record/record-results.js'
import type { DeliveryDays } from './retention/delivery-days.js'

/**
 * Database operations that a replica needs to send deliveries. The simulation has an in-memory implementation, and both
 * pass the same test cases.
 */
export interface DeliveryStore extends WebhookRows, QueueRows, OrderingRows {
  insert: FanOutWriterOptions['insert']
  record: RecordBatch
  book: Bookings
}

export interface DeliveryStoreOptions extends RecordingOptions, Omit<QueueRowsOptions, 'sql'> {
  days: DeliveryDays
}

export function createDeliveryStore(options: DeliveryStoreOptions): DeliveryStore {
  const { database, days, owner, changed } = options
  const { sql } = database
  const record = createRecordBatch(options)
  return {
    ...createWebhookRows(sql),
    ...createQueueRows({ ...options, sql }),
    ...createOrderingRows(sql),
    book: createBookings(sql),
    async insert(batch) {
      const { deliveries } = batch
      const made = await days.inserting(
        deliveries.map(({ id }) => idTime(id)),
        () => insertBatch(sql, owner, batch),
      )
      for (const row of deliveries) if (made?.has(row.id)) changed(toTenant(row), row.id)
      return made
    },
    async record(batch) {
      const paused = await record(batch)
      for (const { row, target } of batch) if (row.status !== 'postponed') changed(target.tenant, row.id)
      return paused
    },
  }
}
