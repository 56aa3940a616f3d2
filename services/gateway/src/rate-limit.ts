import { ApiError } from '@opsplane/contracts'

/** One bucket's state after a request, as response headers. */
export type RateHeaders = Record<string, string>

export interface RateLimiter {
  /** Takes one request from the bucket. Throws ApiError `rate_limited` when it is empty. */
  take(key: string): RateHeaders
  /** What the bucket holds, and takes nothing. */
  state(key: string): RateHeaders
}

interface Bucket {
  tokens: number
  /** Milliseconds on the monotonic clock. */
  updatedAt: number
}

export interface RateLimiterOptions {
  policy: string
  perMinute: number
  /** Requests a full bucket holds: a minute's unless given. */
  burst?: number
  monotonicMs: () => number
  /** Keys with a bucket of their own at once. */
  capacity?: number
}

const windowSeconds = 60
/** Shared by the keys that come when every bucket is in use. */
const sharedBuckets = 1_024

/**
 * Token buckets that refill steadily. `perMinute` 0 limits nothing. Only a bucket that is full again is forgotten: where
 * all are in use, keys that are new share some, so that no number of keys gives anybody a fresh start.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { policy, perMinute, burst = perMinute, monotonicMs, capacity = 50_000 } = options
  if (perMinute === 0) return { take: () => ({}), state: () => ({}) }

  /** Those changed longest ago come first. */
  const buckets = new Map<string, Bucket>()
  const shared = new Map<number, Bucket>()
  const perMs = perMinute / (windowSeconds * 1000)
  const fullAfterMs = burst / perMs
  const policyHeader = `"${policy}";q=${perMinute};w=${windowSeconds}`

  const bucketOf = (key: string, now: number): Bucket => {
    const known = buckets.get(key)
    if (known) {
      buckets.delete(key)
      buckets.set(key, known)
      return known
    }
    const fresh = { tokens: burst, updatedAt: now }
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

  const headers = (bucket: Bucket): RateHeaders => {
    const untilFull = Math.ceil((burst - bucket.tokens) / perMs / 1000)
    return {
      'RateLimit-Policy': policyHeader,
      RateLimit: `"${policy}";r=${Math.floor(bucket.tokens)};t=${untilFull}`,
    }
  }

  return {
    state: (key) => headers(refilled(key)),
    take(key) {
      const bucket = refilled(key)
      if (bucket.tokens < 1) {
        const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000))
        throw new ApiError('rate_limited', `Too many requests. Try again in ${seconds} s.`, {
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
      bucket.tokens -= 1
      return headers(bucket)
    },
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
