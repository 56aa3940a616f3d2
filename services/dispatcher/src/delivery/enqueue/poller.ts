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
  /** Nothing is claimed before. */
  reclaimed: Promise<void>
}

const claimLimit = 400
const claimPerWebhook = 16
const endedAtOnce = 1_000
/** What other replicas leave behind, and what was not announced, is polled at least so often. */
const idleMs = 10_000
const drainEveryMs = 200
/** What is to be tidied is so just before a poll, which then does both. */
const earlyMs = 50

/** Takes what is due from Postgres: retries, what found no room in memory, and what another replica left behind. */
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
      // What was given back is due at once: the next claim would have the same.
      if (accepted === 0 && !isAnotherFull(except)) return idleMs
      // There may be more due with each claim, for ever.
      if (accepted > 0 && now() >= cleanUpAt) return 0
    }
  }

  function isAnotherFull(except: string[]): boolean {
    const known = new Set(except)
    return queues.full().some((webhookId) => !known.has(webhookId))
  }

  /** Ends what deleted webhooks left behind, a little at a time, between claims. */
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
