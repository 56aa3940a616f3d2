import { ApiError, type Instant } from '@opsplane/contracts'
import { parseNetwork, retryDelayMs, sha256Hex } from '@opsplane/runtime'
import type { Attempt } from './attempt.js'
import type { ThrottledKeys, ThrottleTable } from './throttle-table.js'

/** Slows guessing down, over all replicas: ADR 022. */
export interface Throttle {
  attempt(email: string, address: string): Attempt
  /** Throws `rate_limited` for what this process knows must wait, without asking the database. */
  refuseKnown(attempt: Attempt, now: Instant): void
  /** Counts the attempt as failed until it has succeeded, so that parallel ones count too. Throws `rate_limited`. */
  begin(attempt: Attempt, now: Instant): Promise<void>
  /** The attempt was right: what failed for the account is forgiven, and its network is trusted with it. */
  succeeded(attempt: Attempt, now: Instant): Promise<void>
}

const minuteMs = 60_000
const forgetMs = 60 * minuteMs
/** How long a network stays one the account's owner logs in from. */
const trustMs = 30 * 24 * 60 * minuteMs

/** The wait after the nth failure, the last one for all beyond. */
function waits({ freeFailures, maxMs }: { freeFailures: number; maxMs: number }): number[] {
  const list = Array.from({ length: freeFailures }, () => 0)
  for (let attempt = 1; list.at(-1) !== maxMs; attempt++) {
    list.push(retryDelayMs({ attempt, strategy: 'exponential', baseMs: 1_000, maxMs }))
  }
  return list
}

const pairWaits = waits({ freeFailures: 5, maxMs: 15 * minuteMs })
const networkWaits = waits({ freeFailures: 50, maxMs: 15 * minuteMs })
/** Short at most, so that guesses from many networks leave room for the owner on a new one. */
const accountWaits = waits({ freeFailures: 20, maxMs: minuteMs })

/** A wait that ended while this attempt was counted by others: the next one may be let in at once. */
const lostRaceMs = 1_000

export function createThrottle(table: ThrottleTable, { capacity = 50_000 } = {}): Throttle {
  /** Until when pairs have to wait, as far as this process has seen it. */
  const blocked = new Map<string, number>()

  const remember = (key: string, untilMs: number, nowMs: number) => {
    blocked.delete(key)
    if (untilMs <= nowMs) return
    const oldest = blocked.size >= capacity ? blocked.keys().next() : undefined
    if (oldest && !oldest.done) blocked.delete(oldest.value)
    blocked.set(key, untilMs)
  }

  const refuseKnown: Throttle['refuseKnown'] = ({ pair }, now) => {
    const nowMs = Date.parse(now)
    const untilMs = blocked.get(pair) ?? 0
    if (untilMs > nowMs) throw tooMany(untilMs - nowMs)
  }

  return {
    attempt(email, address) {
      const network = parseNetwork(address)
      return {
        pair: `pair:${sha256Hex(`${email}\0${network}`)}`,
        network: `network:${sha256Hex(network)}`,
        account: `account:${sha256Hex(email)}`,
      }
    },
    refuseKnown,

    async begin(attempt, now) {
      refuseKnown(attempt, now)
      const nowMs = Date.parse(now)
      const slowed = await table.count(slowdowns(attempt), attempt.pair, nowMs)
      // Waits of the account and the network are ones of this pair: others may be trusted, and do not have them.
      const untilMs = Math.max(0, ...slowed.map((slowdown) => slowdown.untilMs ?? 0))
      remember(attempt.pair, Math.max(untilMs, blocked.get(attempt.pair) ?? 0), nowMs)
      const refused = slowed.filter(({ counted }) => !counted)
      if (refused.length === 0) return
      throw tooMany(Math.max(...refused.map((slowdown) => (slowdown.untilMs ?? nowMs + lostRaceMs) - nowMs)))
    },

    async succeeded(attempt, now) {
      const nowMs = Date.parse(now)
      await table.forgive(attempt, { nowMs, trustedUntilMs: nowMs + trustMs })
      blocked.delete(attempt.pair)
    },
  }
}

function slowdowns({ pair, network, account }: Attempt) {
  return [
    { key: pair, waits: pairWaits, forgetMs, unlessTrusted: false },
    { key: network, waits: networkWaits, forgetMs, unlessTrusted: true },
    { key: account, waits: accountWaits, forgetMs, unlessTrusted: true },
  ] satisfies ThrottledKeys[]
}

function tooMany(waitMs: number): ApiError {
  return new ApiError('rate_limited', 'Too many failed logins. Wait before trying again.', {
    headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) },
  })
}
