import { ApiError } from '@opsplane/contracts'
import type { SharedRates } from './shared-rates.js'

/** One bucket's state after a request, as response headers. */
export type RateHeaders = Record<string, string>

export interface RateLimiter {
  /** Takes one unit from the bucket. Throws ApiError `rate_limited` when there is none. */
  take(key: string): RateHeaders
  /** Throws as `take` does, and takes nothing: for what costs an amount that is known only later, by `spend`. */
  check(key: string): RateHeaders
  /** Takes an amount that is spent already, be it more than there is: what is missing has to be refilled first. */
  spend(key: string, amount: number): void
  /** What is in the bucket; takes nothing. */
  state(key: string): RateHeaders
}

interface Bucket {
  tokens: number
  /** Milliseconds on the monotonic clock. */
  updatedAt: number
  /** Taken since `untoldSince`, which the other gateways do not know of yet. */
  untold: number
  untoldSince: number
  telling: boolean
}

export interface RateLimiterOptions {
  policy: string
  perMinute: number
  /** Units in a full bucket: a minute's unless given. */
  burst?: number
  /** What is counted: requests unless given. */
  unit?: 'content-bytes'
  monotonicMs: () => number
  /** Keys with a bucket of their own at once. */
  capacity?: number
  /** Where the gateways count together; without it each counts by itself. */
  shared?: SharedRates
}

/** Requests that any client may make at once, whatever the limit. */
const leastBurst = 100

/** The headers of a request that two limits count. */
export const joinRateHeaders = (one: RateHeaders, other: RateHeaders): RateHeaders =>
  Object.fromEntries(
    ['RateLimit-Policy', 'RateLimit'].flatMap((name) => {
      const values = [one[name], other[name]].filter(Boolean)
      return values.length > 0 ? [[name, values.join(', ')]] : []
    }),
  )

/** The burst of a limit per minute: a tenth, so that one client cannot keep the machine busy for many seconds. */
export const computeBurst = (perMinute: number): number =>
  Math.min(perMinute, Math.max(leastBurst, Math.ceil(perMinute / 10)))

/** Of a bucket, what a gateway takes before it says so. */
const parts = 20

/** Of a unit: what sums of floating-point numbers may lack of a whole one. */
const rounding = 1e-6
const wholeUnits = (tokens: number) => Math.max(0, Math.floor(tokens + rounding))
/** Shared by the keys that come when every bucket is in use. */
const sharedBuckets = 1_024

/**
 * Token buckets that refill steadily. `perMinute` 0 limits nothing. Only a bucket that is full again is forgotten: where
 * all are in use, new keys share some, so that a client cannot reset its limit by inventing keys.
 *
 * The headers state what can be sent: the policy is a full bucket and the seconds that refill it from empty, `r` is what
 * may be sent at once and `t` the seconds until the bucket is full. A client within them is never refused.
 *
 * A gateway lets requests through by its own buckets, and says of each twentieth it has taken of one that it has; what it
 * learns then is what all of them have left. So together they let through a limit and a twentieth for each of them. While
 * settings does not answer, each keeps to the limit by itself.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { policy, perMinute, burst = perMinute, monotonicMs, capacity = 50_000, shared: others } = options
  if (perMinute === 0)
    return { take: () => ({}), check: () => ({}), spend: () => undefined, state: () => ({}) }

  /** Those changed longest ago come first. */
  const buckets = new Map<string, Bucket>()
  const shared = new Map<number, Bucket>()
  const perMs = perMinute / 60_000
  /** However much is missing: a bucket is at most as far below empty as it is large. */
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
    const place = hashOf(key) % sharedBuckets
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

  const tell = async (from: SharedRates, key: string, bucket: Bucket) => {
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
    const untilFull = Math.ceil((burst - bucket.tokens) / perMs / 1000 - rounding)
    return {
      'RateLimit-Policy': policyHeader,
      RateLimit: `"${policy}";r=${wholeUnits(bucket.tokens)};t=${untilFull}`,
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
      void tell(others, key, bucket)
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

/** Two of them with each new key, so that the full ones are gone before they are in the way. */
function forgetFull(buckets: Map<string, Bucket>, fullSince: number): void {
  let looks = 2
  for (const [key, { updatedAt }] of buckets) {
    if (updatedAt > fullSince || looks-- === 0) return
    buckets.delete(key)
  }
}

function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0
  return hash
}
