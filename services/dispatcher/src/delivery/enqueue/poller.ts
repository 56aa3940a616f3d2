import { type Logger, msToIdleTick, type Timers } from '@opsplane/runtime'
import type { DeliveryJob } from '../job.js'
import { type ClaimedJobsOptions, enqueueClaimed } from './claimed-jobs.js'
import type { DeliveryQueues } from './delivery-queues.js'
import type { DueSignal } from './due-signal.js'
import type { QueueRows } from './queue-statements.js'

export interface PollerOptions extends ClaimedJobsOptions {
  deliveries: QueueRows
  queues: Pick<DeliveryQueues<DeliveryJob>, 'full' | 'room' | 'reserve' | 'submit'>
  due: Pick<DueSignal, 'sleepUntil' | 'close'>
  timers: Timers
  drainPerSecond: number
  log: Logger
  /** No claim is made before this resolves. */
  reclaimed: Promise<void>
}

const claimLimit = 400
const claimPerWebhook = 16
const endedAtOnce = 1_000
/** Maximum milliseconds between polls: finds deliveries left behind by other replicas or never announced. */
const idleMs = 10_000
const drainEveryMs = 200
/** Cleaning is due slightly before the next poll, so that one wake-up does both. */
const earlyMs = 50

/**
 * Claims due deliveries from Postgres: retries, those that found no room in memory, and
 * those left behind by another replica.
 */
export function startPoller(options: PollerOptions) {
  const { deliveries, queues, due, timers, log } = options
  const { now } = timers
  const drain = {
    step: Math.max(1, Math.round((options.drainPerSecond * drainEveryMs) / 1_000)),
    everyMs: drainEveryMs,
  }
  let closing = false
  let cleanUpAt = 0

  async function claim(): Promise<number> {
    for (;;) {
      const { jobs, bytes } = queues.room()
      if (closing || jobs <= 0 || bytes <= 0) return idleMs
      const except = queues.full()
      const leasedAt = now()
      const claimed = await deliveries.claim({
        leaseMs: options.leaseMs,
        except,
        perWebhook: claimPerWebhook,
        limit: Math.min(claimLimit, jobs),
        bytes,
        drain,
      })
      if (claimed.length === 0) {
        const pollMs = msToIdleTick(idleMs, undefined, timers)
        return Math.min((await deliveries.nextDueIn(except)) ?? pollMs, pollMs)
      }
      const accepted = await enqueueClaimed(claimed, leasedAt, options)
      // Released deliveries are due immediately, so the next claim would return the same ones.
      if (accepted === 0 && !isAnotherFull(except)) return idleMs
      // Every claim may find more due deliveries, so cleaning must not wait for the last.
      if (accepted > 0 && now() >= cleanUpAt) return 0
    }
  }

  function isAnotherFull(except: string[]): boolean {
    const known = new Set(except)
    return queues.full().some((webhookId) => !known.has(webhookId))
  }

  /** Removes the remains of deleted webhooks in small steps between claims. */
  async function cleanUp(): Promise<number> {
    if (now() < cleanUpAt) return cleanUpAt - now()
    if (await deliveries.cleanUp(endedAtOnce)) return 0
    const pollMs = msToIdleTick(idleMs, undefined, timers)
    cleanUpAt = now() + pollMs - earlyMs
    return pollMs
  }

  async function loop() {
    let failed = false
    await options.reclaimed
    while (!closing) {
      let waitMs = idleMs
      try {
        waitMs = await claim()
        waitMs = Math.min(waitMs, await cleanUp())
        failed = false
      } catch (error) {
        if (!failed) log.warn({ err: error }, 'due deliveries could not be read from Postgres; trying again')
        failed = true
      }
      await due.sleepUntil(now() + waitMs)
    }
  }

  const running = loop()
  return {
    async close() {
      closing = true
      due.close()
      await running
    },
  }
}
