import { ApiError, type Instant } from '@opsplane/contracts'
import { parseNetwork, retryDelayMs, sha256Hex } from '@opsplane/runtime'
import type { Attempt } from './attempt.js'
import type { ThrottledKeys, ThrottleTable } from './throttle-table.js'

/** Throttles guessing, across all replicas: ADR 022. */
export interface Throttle {
  attempt(email: string, address: string): Attempt
  /** Throws `rate_limited` if this process knows that the attempt must wait, without a database query. */
  refuseKnown(attempt: Attempt, now: Instant): void
  /** Counts the attempt as failed until it succeeds, so that concurrent attempts count too. Throws `rate_limited`. */
  begin(attempt: Attempt, now: Instant): Promise<void>
  /** Marks the attempt as successful: resets the failures of the account, and trusts the network for this account. */
  succeeded(attempt: Attempt, now: Instant): Promise<void>
}

const minuteMs = 60_000
const forgetMs = 60 * minuteMs
/** Time in milliseconds during which a network is trusted after the account's owner logged in from it. */
const trustMs = 30 * 24 * 60 * minuteMs

/** The wait after each failure; the last value applies to all further failures. */
function waits({ freeFailures, maxMs }: { freeFailures: number; maxMs: number }): number[] {
  const list = Array.from({ length: freeFailures }, () => 0)
  for (let attempt = 1; list.at(-1) !== maxMs; attempt++) {
    list.push(retryDelayMs({ attempt, strategy: 'exponential', baseMs: 1_000, maxMs }))
  }
  return list
}

const pairWaits = waits({ freeFailures: 5, maxMs: 15 * minuteMs })
const networkWaits = waits({ freeFailures: 50, maxMs: 15 * minuteMs })
/** A short maximum, so that guesses from many networks do not lock out the owner in a new network. */
const accountWaits = waits({ freeFailures: 20, maxMs: minuteMs })

/** Retry delay if concurrent attempts were counted first after a wait ended, in milliseconds. */
const lostRaceMs = 1_000

export function createThrottle(table: ThrottleTable, { capacity = 50_000 } = {}): Throttle {
  /** Until when pairs have to wait, as far as this process knows. */
  const blocked = new Map<string, number>()

  const remember = (key: string, blockedUntilMs: number, nowMs: number) => {
    blocked.delete(key)
    if (blockedUntilMs <= nowMs) return
    const oldest = blocked.size >= capacity ? blocked.keys().next() : undefined
    if (oldest && !oldest.done) blocked.delete(oldest.value)
    blocked.set(key, blockedUntilMs)
  }

  const refuseKnown: Throttle['refuseKnown'] = ({ pair }, now) => {
    const nowMs = Date.parse(now)
    const blockedUntilMs = blocked.get(pair) ?? 0
    if (blockedUntilMs > nowMs) throw tooMany(blockedUntilMs - nowMs)
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
      // Waits of the account and the network are remembered for this pair only, because trusted pairs are exempt from them.
      const blockedUntilMs = Math.max(0, ...slowed.map((slowdown) => slowdown.untilMs ?? 0))
      remember(attempt.pair, Math.max(blockedUntilMs, blocked.get(attempt.pair) ?? 0), nowMs)
      const uncountedSlowdowns = slowed.filter(({ counted }) => !counted)
      if (uncountedSlowdowns.length === 0) return
      throw tooMany(
        Math.max(...uncountedSlowdowns.map((slowdown) => (slowdown.untilMs ?? nowMs + lostRaceMs) - nowMs)),
      )
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
