import { delay, type Logger, retryDelayMs, type Timers } from '@opsplane/runtime'
import type { DeliveryJob } from '../job.js'
import type { QueueRows } from './queue-statements.js'

export interface LeaseOptions {
  deliveries: Pick<QueueRows, 'release' | 'reclaim'>
  log: Logger
  timers: Timers
}

/**
 * Releases the leases of an earlier process with this name, with retries. Resolves without
 * effect when `closing` aborts.
 */
export async function reclaimOwn(
  { deliveries, log, timers }: LeaseOptions,
  closing: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !closing.aborted; attempt++) {
    try {
      return await deliveries.reclaim()
    } catch (error) {
      if (attempt === 1)
        log.warn(
          { err: error },
          'leases of an earlier process of this name cannot be taken back yet; trying again',
        )
      const waitMs = retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 })
      await delay(waitMs, closing, timers)
    }
  }
}

/**
 * Releases the leases of jobs that this replica does not send. Waits for first attempts to be settled, because a job
 * has no lease before its row exists.
 */
export async function releaseJobs(
  jobs: readonly DeliveryJob[],
  { deliveries, log }: Pick<LeaseOptions, 'deliveries' | 'log'>,
): Promise<void> {
  await Promise.all(jobs.map(({ first }) => first?.settled))
  const ids = jobs.map(({ deliveryId }) => deliveryId)
  try {
    await deliveries.release(ids)
  } catch (error) {
    log.warn(
      { err: error, deliveries: ids.length },
      'leases of queued deliveries could not be released; they expire by themselves',
    )
  }
}
