import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { type Claimed, claimDue, drainHeld } from './claim-statement.js'
import type { Line } from './turn-statement.js'
import { createWaitingDays } from './waiting-days.js'

export interface PollerOptions {
  database: Database
  owner: string
  leaseMs: number
  /** Days deliveries are kept at most. */
  heldDays: number
  drainPerSecond: number
  log: Logger
  nowMs(): number
  /** Webhooks to pass over. */
  full(): string[]
  hasRoom(): boolean
  accept(claimed: Claimed[]): Promise<void>
  /** Deliveries that were held wait for their turn. */
  waits(lines: Line[]): void
}

export interface Poller {
  /** Something is due at this instant (Unix ms); a hint that saves waiting for the next look. */
  wakeAt(atMs: number): void
  /** A webhook was resumed: there may be held deliveries to make due. */
  drain(): void
  close(): Promise<void>
}

const claimLimit = 400
const claimPerWebhook = 16
/** Other replicas' retries and leases are seen at least so often. */
const idlePollMs = 1_000
const drainEveryMs = 200
const idleDrainMs = 5_000
/** A clock that was set, or a machine that slept, is noticed after so long. */
const clockCheckMs = 100
/** Between two looks at least, whatever wakes it. */
const restMs = 10

/** Takes what is due from Postgres: retries, what found no room in memory, and what another replica left behind. */
export function startPoller(options: PollerOptions): Poller {
  const { database, log, nowMs } = options
  const waitingDays = createWaitingDays(options.heldDays)
  let closing = false
  let interrupt = () => {}
  let wakeAt = Number.POSITIVE_INFINITY
  let drainAt = 0
  let servedLast = ''

  async function claim(): Promise<number> {
    for (;;) {
      if (!options.hasRoom()) return nowMs() + idlePollMs
      const { claimed, next_due } = await claimDue(database.sql, {
        owner: options.owner,
        nowMs: nowMs(),
        leaseMs: options.leaseMs,
        except: options.full(),
        perWebhook: claimPerWebhook,
        limit: claimLimit,
        servedLast,
        days: waitingDays(nowMs()),
      })
      servedLast = claimed.length >= claimLimit ? (claimed.at(-1)?.webhook_id ?? '') : ''
      if (claimed.length === 0) return Math.min(next_due ?? Number.POSITIVE_INFINITY, nowMs() + idlePollMs)
      await options.accept(claimed)
    }
  }

  async function drainIfTime() {
    if (nowMs() < drainAt) return
    const perWebhook = Math.max(1, Math.round((options.drainPerSecond * drainEveryMs) / 1_000))
    const { drained, lines } = await drainHeld(database.sql, nowMs(), perWebhook)
    if (lines.length > 0) options.waits(lines)
    drainAt = nowMs() + (drained > 0 ? drainEveryMs : idleDrainMs)
  }

  async function loop() {
    let failed = false
    while (!closing) {
      wakeAt = Number.POSITIVE_INFINITY
      let next = nowMs() + idlePollMs
      try {
        await drainIfTime()
        next = Math.min(await claim(), drainAt)
        failed = false
      } catch (error) {
        if (!failed) log.warn({ err: error }, 'due deliveries cannot be read')
        failed = true
      }
      await sleepUntil(next)
    }
  }

  async function sleepUntil(next: number) {
    await sleep(restMs)
    for (;;) {
      const left = Math.min(next, wakeAt) - nowMs()
      if (left <= 0 || closing) return
      await sleep(Math.min(left, clockCheckMs))
    }
  }

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      interrupt = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const running = loop()
  return {
    wakeAt(atMs) {
      if (atMs >= wakeAt) return
      wakeAt = atMs
      interrupt()
    },
    drain() {
      drainAt = 0
      wakeAt = 0
      interrupt()
    },
    async close() {
      closing = true
      interrupt()
      await running
    },
  }
}
