import { type Logger, msToIdleTick, type Timers } from '@opsplane/runtime'
import type { Claimed, QueueRows } from './queue-statements.js'

export interface PollerOptions {
  deliveries: Pick<QueueRows, 'claim' | 'nextDueIn' | 'tidy'>
  timers: Timers
  leaseMs: number
  drainPerSecond: number
  log: Logger
  /** Nothing is claimed before. */
  begin: Promise<void>
  /** Webhooks to pass over. */
  full(): string[]
  room(): { jobs: number; bytes: number }
  /** What was leased at this instant or later; resolves with how many of them were not given back. */
  accept(claimed: Claimed[], leasedAt: number): Promise<number>
}

export interface Poller {
  /** Something is due in so many milliseconds; a hint that saves waiting for the next look. */
  wakeIn(ms: number): void
  close(): Promise<void>
}

const claimLimit = 400
const claimPerWebhook = 16
const endedAtOnce = 1_000
/** What other replicas leave behind, and what was not announced, is polled at least so often. */
const idleMs = 10_000
const drainEveryMs = 200
/** Between two looks at least, whatever wakes it. */
const restMs = 10
/** What is to be tidied is so just before a look, which then does both. */
const earlyMs = 50

/** Takes what is due from Postgres: retries, what found no room in memory, and what another replica left behind. */
export function startPoller(options: PollerOptions): Poller {
  const { deliveries, timers, log } = options
  const { now } = timers
  const drain = {
    step: Math.max(1, Math.round((options.drainPerSecond * drainEveryMs) / 1_000)),
    everyMs: drainEveryMs,
  }
  let closing = false
  let interrupt = () => {}
  let wakeAt = Number.POSITIVE_INFINITY
  let tidyAt = 0

  async function claim(): Promise<number> {
    for (;;) {
      const { jobs, bytes } = options.room()
      if (closing || jobs <= 0 || bytes <= 0) return idleMs
      const except = options.full()
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
        const lookMs = msToIdleTick(idleMs, undefined, timers)
        return Math.min((await deliveries.nextDueIn(except)) ?? lookMs, lookMs)
      }
      const accepted = await options.accept(claimed, leasedAt)
      // What was given back is due at once: the next claim would have the same.
      if (accepted === 0 && !isAnyFullBeside(except)) return idleMs
      // There may be more due with each claim, for ever.
      if (accepted > 0 && now() >= tidyAt) return 0
    }
  }

  function isAnyFullBeside(except: string[]): boolean {
    const known = new Set(except)
    return options.full().some((webhookId) => !known.has(webhookId))
  }

  /** Ends what deleted webhooks left behind, a little at a time, between claims. */
  async function tidy(): Promise<number> {
    if (now() < tidyAt) return tidyAt - now()
    if (await deliveries.tidy(endedAtOnce)) return 0
    const lookMs = msToIdleTick(idleMs, undefined, timers)
    tidyAt = now() + lookMs - earlyMs
    return lookMs
  }

  async function loop() {
    let failed = false
    await options.begin
    while (!closing) {
      wakeAt = Number.POSITIVE_INFINITY
      let waitMs = idleMs
      try {
        waitMs = await claim()
        waitMs = Math.min(waitMs, await tidy())
        failed = false
      } catch (error) {
        if (!failed) log.warn({ err: error }, 'due deliveries could not be read from Postgres; trying again')
        failed = true
      }
      await sleepUntil(now() + waitMs)
    }
  }

  async function sleepUntil(next: number) {
    const earliest = now() + restMs
    for (;;) {
      const left = Math.max(Math.min(next, wakeAt), earliest) - now()
      if (left <= 0 || closing) return
      await sleep(left)
    }
  }

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = timers.setTimeout(resolve, ms)
      interrupt = () => {
        timers.clearTimeout(timer)
        resolve()
      }
    })

  const running = loop()
  return {
    wakeIn(ms) {
      const at = now() + ms
      if (at >= wakeAt) return
      wakeAt = at
      interrupt()
    },
    async close() {
      closing = true
      interrupt()
      await running
    },
  }
}
