import { idTime, type TenantScope } from '@opsplane/contracts'
import type { ChangedSignals } from '@opsplane/nats'
import { createBookings } from './attempt/book-slots.js'
import type { Bookings } from './attempt/rate-limit-scheduler.js'
import { createRecordBatch, type RecordBatch, type RecordingOptions } from './attempt/record-results.js'
import { type OrderingRows, releaseHeads, sweepHeads } from './ordering/release-statement.js'
import { insertBatch } from './queue/fan-out-statement.js'
import type { FanOutWriterOptions } from './queue/fan-out-writer.js'
import {
  type Claimed,
  claimDue,
  cleanUpQueues,
  failWithoutEvent,
  findNextDueMs,
  type QueueRows,
  reclaimLeases,
  releaseLeases,
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
  /** Called once deliveries that have changed are committed. */
  changed: ChangedSignals['changed']
  /** The consumer that fans out. */
  consumer: string
}

export function createDeliveryStore(options: DeliveryStoreOptions): DeliveryStore {
  const { database, days, owner, consumer, changed } = options
  const { sql } = database
  const record = createRecordBatch(options)
  return {
    loadWebhooks: (tenants) => loadWebhooks(sql, tenants),
    addRevisions: (tenants) => addRevisions(sql, tenants),
    async insert(batch) {
      const { deliveries } = batch
      const made = await days.inserting(
        deliveries.map(({ id }) => idTime(id)),
        () => insertBatch(sql, owner, batch),
      )
      for (const row of deliveries) if (made?.has(row.id)) changed(tenantOf(row), row.id)
      return made
    },
    claim: (claim) => claimDue(sql, { ...claim, owner }),
    nextDueIn: (except) => findNextDueMs(sql, except),
    tidy: (limit) => cleanUpQueues(sql, limit, consumer),
    async failWithoutEvent(ids) {
      for (const row of await failWithoutEvent(sql, owner, ids)) changed(tenantOf(row), row.id)
    },
    release: (ids) => releaseLeases(sql, owner, ids),
    retake: () => reclaimLeases(sql, owner),
    async record(batch) {
      const paused = await record(batch)
      for (const { row, target } of batch) if (row.status !== 'postponed') changed(target.tenant, row.id)
      return paused
    },
    book: createBookings(sql),
    releaseHeads: (queues, lowWatermark) => releaseHeads(sql, queues, lowWatermark),
    sweepHeads: (after, limit, lowWatermark) => sweepHeads(sql, after, limit, lowWatermark),
  }
}

/** Rows have the environment of an event, which was checked. */
const tenantOf = (row: Pick<Claimed, 'workspace_id' | 'environment'>): TenantScope => ({
  workspaceId: row.workspace_id,
  environment: row.environment as TenantScope['environment'],
})
