import { ApiError, type Instant } from '@opsplane/contracts'
import { retryDelayMs } from '@opsplane/runtime'

/** Slows guessing down: each failure beyond the free ones doubles the wait before the next attempt. */
export interface Throttle {
  /** Counts an attempt as failed until it has succeeded, so that parallel ones count too. Throws `rate_limited`. */
  begin(key: string, now: Instant): void
  /** The attempt was right: all before it are forgiven. */
  forgive(key: string): void
  /** The attempt was right, which says nothing about the others. */
  withdraw(key: string): void
}

export interface ThrottleOptions {
  /** Failures before the first wait. */
  freeFailures: number
  /** The first wait. */
  baseMs: number
  maxMs: number
  /** Failures are forgotten after this time without an attempt. */
  forgetMs: number
  /** How many keys are remembered; the one unseen for longest is dropped first. */
  capacity?: number
}

interface Record {
  failures: number
  lastMs: number
  blockedUntilMs: number
}

/** Kept in memory: each process counts for itself, and a restart forgives. */
export function createThrottle(options: ThrottleOptions): Throttle {
  const { freeFailures, baseMs, maxMs, forgetMs, capacity = 50_000 } = options
  const records = new Map<string, Record>()

  const waitAfter = (failures: number) =>
    failures <= freeFailures
      ? 0
      : retryDelayMs({ attempt: failures - freeFailures, strategy: 'exponential', baseMs, maxMs })

  const recall = (key: string, nowMs: number): Record => {
    const known = records.get(key)
    return known && nowMs - known.lastMs < forgetMs
      ? known
      : { failures: 0, lastMs: nowMs, blockedUntilMs: 0 }
  }

  const keep = (key: string, record: Record) => {
    // Re-inserted at the end: the first key is the one unseen for longest.
    records.delete(key)
    const oldest = records.size >= capacity ? records.keys().next() : undefined
    if (oldest && !oldest.done) records.delete(oldest.value)
    records.set(key, record)
  }

  return {
    begin(key, now) {
      const nowMs = Date.parse(now)
      const record = recall(key, nowMs)
      if (nowMs < record.blockedUntilMs) throw tooMany(record.blockedUntilMs - nowMs)
      const failures = record.failures + 1
      keep(key, { failures, lastMs: nowMs, blockedUntilMs: nowMs + waitAfter(failures) })
    },
    forgive: (key) => void records.delete(key),
    withdraw(key) {
      const record = records.get(key)
      if (!record) return
      if (record.failures <= 1) records.delete(key)
      else records.set(key, { ...record, failures: record.failures - 1, blockedUntilMs: 0 })
    },
  }
}

function tooMany(waitMs: number): ApiError {
  return new ApiError('rate_limited', 'Too many failed logins. Wait before trying again.', {
    headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) },
  })
}
