import { ApiError } from '@opsplane/contracts'
import type { SharedRates } from './shared-rates.js'

/** State of one bucket after a request, as response headers. */
export type RateHeaders = Record<string, string>

export interface RateLimiter {
  /** Takes one unit from the bucket. Throws ApiError `rate_limited` if it is empty. */
  take(key: string): RateHeaders
  /** Throws like `take` but takes nothing: for costs that are known only later and reported by `spend`. */
  check(key: string): RateHeaders
  /** Subtracts an amount already spent, even if it exceeds the content: the deficit must be refilled first. */
  spend(key: string, amount: number): void
  /** The state of the bucket, without taking anything. */
  state(key: string): RateHeaders
}

interface Bucket {
  tokens: number
  /** Milliseconds on the monotonic clock. */
  updatedAt: number
  /** Units taken since `untoldSince` that have not been reported to the other gateways. */
  untold: number
  untoldSince: number
  telling: boolean
}

export interface RateLimiterOptions {
  policy: string
  perMinute: number
  /** Units in a full bucket; default: the limit of a minute. */
  burst?: number
  /** The unit counted; default: requests. */
  unit?: 'content-bytes'
  monotonicMs: () => number
  /** Maximum keys with a separate bucket. */
  capacity?: number
  /** Shared counter of all gateways; without it each gateway counts separately. */
  shared?: SharedRates
}

/** Minimum burst in requests, unless the limit per minute is lower. */
const leastBurst = 100

/** Combines the headers of two limits that apply to a request. */
export const joinRateHeaders = (one: RateHeaders, other: RateHeaders): RateHeaders =>
  Object.fromEntries(
    ['RateLimit-Policy', 'RateLimit'].flatMap((name) => {
      const values = [one[name], other[name]].filter(Boolean)
      return values.length > 0 ? [[name, values.join(', ')]] : []
    }),
  )

/**
 * The burst of a limit per minute: a tenth of it, or `leastBurst` if that is more, but never above the limit itself. So
 * one client cannot occupy the machine for many seconds.
 */
export const computeBurst = (perMinute: number): number =>
  Math.min(perMinute, Math.max(leastBurst, Math.ceil(perMinute / 10)))

/** A gateway reports its usage after each such part of a bucket. */
const parts = 20

/** Tolerance for rounding errors in sums of units. */
const rounding = 1e-6
const wholeUnits = (tokens: number) => Math.max(0, Math.floor(tokens + rounding))
/** Number of buckets shared by new keys when all separate ones are in use. */
const sharedBuckets = 1_024

/**
 * Token buckets that refill steadily. `perMinute` 0 means unlimited. Only full buckets are evicted: if all are in use,
 * new keys share some, so that a client cannot reset its limit by inventing keys.
 *
 * The headers state the permitted usage: the policy is a full bucket and the seconds to refill it from empty, `r` is
 * the number of units available now and `t` the seconds until the bucket is full. A client that respects them is never
 * rejected.
 *
 * A gateway decides by its own buckets, and reports its usage after each twentieth of a bucket; the response is the
 * remainder over all gateways. Together they therefore permit the limit plus a twentieth for each gateway. While
 * settings does not respond, each gateway applies the limit separately.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { policy, perMinute, burst = perMinute, monotonicMs, capacity = 50_000, shared: others } = options
  if (perMinute === 0)
    return { take: () => ({}), check: () => ({}), spend: () => undefined, state: () => ({}) }

  /** In the order of their last change, oldest first. */
  const buckets = new Map<string, Bucket>()
  const shared = new Map<number, Bucket>()
  const perMs = perMinute / 60_000
  /** Enough for any deficit: a bucket is at most one full bucket below zero. */
  const fullAfterMs = (2 * burst) / perMs
  const windowSeconds = Math.ceil(burst / perMs / 1_000 - rounding)
  const unit = options.unit === undefined ? '' : `;qu="${options.unit}"`
  const excess = options.unit === undefined ? 'Too many requests' : 'Too many bytes were sent'
  const policyHeader = `"${policy}";q=${burst};w=${windowSeconds}${unit}`

  const bucketOf = (key: string, now: number): Bucket => {
    const known = buckets.get(key)
    if (known) {
      buckets.delete(key)
      buckets.set(key, known)
      return known
    }
    const fresh = { tokens: burst, updatedAt: now, untold: 0, untoldSince: now, telling: false }
    forgetFull(buckets, now - fullAfterMs)
    if (buckets.size < capacity) {
      buckets.set(key, fresh)
      return fresh
    }
    const place = hashKey(key) % sharedBuckets
    const bucket = shared.get(place) ?? fresh
    shared.set(place, bucket)
    return bucket
  }

  const refilled = (key: string): Bucket => {
    const now = monotonicMs()
    const bucket = bucketOf(key, now)
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.updatedAt) * perMs)
    bucket.updatedAt = now
    return bucket
  }

  const reportUsage = async (from: SharedRates, key: string, bucket: Bucket) => {
    const { untold: spent, untoldSince } = bucket
    const now = monotonicMs()
    Object.assign(bucket, { telling: true, untold: 0, untoldSince: now })
    const seconds = (now - untoldSince) / 1_000
    const spend = { key: `${policy} ${key}`, spent, seconds, burst, perSecond: perMs * 1_000 }
    const left = await from.spend(spend)
    bucket.telling = false
    if (left === undefined) Object.assign(bucket, { untold: bucket.untold + spent, untoldSince })
    else Object.assign(bucket, { tokens: left - bucket.untold, updatedAt: monotonicMs() })
  }

  const headers = (bucket: Bucket): RateHeaders => {
    const secondsUntilFull = Math.ceil((burst - bucket.tokens) / perMs / 1000 - rounding)
    return {
      'RateLimit-Policy': policyHeader,
      RateLimit: `"${policy}";r=${wholeUnits(bucket.tokens)};t=${secondsUntilFull}`,
    }
  }

  const refuseEmpty = (bucket: Bucket) => {
    if (wholeUnits(bucket.tokens) > 0) return
    const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000))
    throw new ApiError('rate_limited', `${excess}. Try again in ${seconds} s.`, {
      details: [
        {
          in: 'header',
          path: '',
          code: 'limit_exceeded',
          message: `The limit is ${policy}.`,
          params: { limit: policy },
        },
      ],
      headers: { ...headers(bucket), 'Retry-After': String(seconds) },
    })
  }

  const spendFrom = (key: string, bucket: Bucket, amount: number) => {
    bucket.tokens = Math.max(-burst, bucket.tokens - amount)
    bucket.untold += amount
    if (others && bucket.untold >= burst / parts && !bucket.telling && buckets.has(key))
      void reportUsage(others, key, bucket)
  }

  return {
    state: (key) => headers(refilled(key)),
    check(key) {
      const bucket = refilled(key)
      refuseEmpty(bucket)
      return headers(bucket)
    },
    take(key) {
      const bucket = refilled(key)
      refuseEmpty(bucket)
      spendFrom(key, bucket, 1)
      return headers(bucket)
    },
    spend: (key, amount) => spendFrom(key, refilled(key), amount),
  }
}

/** Removes up to two full buckets for each new key, so that full ones do not use up the capacity. */
function forgetFull(buckets: Map<string, Bucket>, fullSince: number): void {
  let remainingRemovals = 2
  for (const [key, { updatedAt }] of buckets) {
    if (updatedAt > fullSince || remainingRemovals-- === 0) return
    buckets.delete(key)
  }
}

function hashKey(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0
  return hash
}
