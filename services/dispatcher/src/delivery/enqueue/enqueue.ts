import type { Batch } from '../events/batch.js'
import type { DeliveryDraft } from '../match/delivery-drafts.js'
import { assignSequences } from '../ordering/ordering.js'
import type { OrderingQueues } from '../ordering/ordering-queues.js'
import type { DueSignal } from './due-signal.js'
import { createFanOutWriter, type FanOutWriterOptions } from './fan-out-writer.js'
import { createFirstAttempts, type FirstAttemptOptions } from './first-attempts.js'

export interface EnqueueOptions extends FirstAttemptOptions, Omit<FanOutWriterOptions, 'after'> {
  ordering: Pick<OrderingQueues, 'request'>
  due: Pick<DueSignal, 'wakeIn'>
}

export interface Enqueue {
  /**
   * Returns false, and writes nothing, if some webhook was changed after the drafts were
   * made; attempts already started continue.
   */
  enqueue(drafts: DeliveryDraft[], batch: Batch, sequences: () => Promise<string[]>): Promise<boolean>
  /** Stops waiting for the rows of first attempts, since their writer may have ended. */
  close(): void
}

/**
 * Enqueues the deliveries of a batch. First attempts of plain deliveries start immediately; one statement then writes
 * all rows, including the results of attempts that have succeeded by then. Deliveries that find no room in memory are
 * left to the poller.
 */
export function createEnqueue(options: EnqueueOptions): Enqueue {
  const { ordering, due } = options
  const first = createFirstAttempts(options)
  const write = createFanOutWriter(options)
  return {
    async enqueue(drafts, batch, sequences) {
      try {
        const waiting = await assignSequences(drafts, sequences)
        first.start(drafts, batch)
        const written = await write(drafts, batch)
        if (!written) return false
        for (const webhooks of batch.tenants) webhooks.checkedAt = options.now()
        first.committed(drafts, written)
        if (waiting.length > 0) ordering.request(waiting)
        if (drafts.some(({ row }) => !row.waits && row.lease_ms === null)) due.wakeIn(0)
        return true
      } finally {
        first.releaseReserved(drafts)
      }
    },
    close: first.close,
  }
}
