import { ApiError } from '@opsplane/contracts'

/** One bucket's state after a request, as response headers. */
export type RateHeaders = Record<string, string>

export interface RateLimiter {
  /** Takes one request from the bucket. Throws ApiError `rate_limited` when it is empty. */
  take(key: string): RateHeaders
  /** Throws as take does when the bucket is empty, but takes nothing. */
  check(key: string): RateHeaders
}

interface Bucket {
  tokens: number
  /** Milliseconds on the monotonic clock. */
  updatedAt: number
}

const maxBuckets = 50_000
const windowSeconds = 60

/**
 * Token buckets that hold a minute's requests and refill steadily. `perMinute` 0 limits nothing.
 * `monotonicMs` is the clock.
 */
export function createRateLimiter(options: {
  policy: string
  perMinute: number
  monotonicMs: () => number
}): RateLimiter {
  const { policy, perMinute, monotonicMs } = options
  if (perMinute === 0) return { take: () => ({}), check: () => ({}) }

  const buckets = new Map<string, Bucket>()
  const perMs = perMinute / (windowSeconds * 1000)
  const policyHeader = `"${policy}";q=${perMinute};w=${windowSeconds}`

  const refilled = (key: string): Bucket => {
    const now = monotonicMs()
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      bucket = { tokens: perMinute, updatedAt: now }
      if (buckets.size >= maxBuckets) dropOldest(buckets)
      buckets.set(key, bucket)
    }
    bucket.tokens = Math.min(perMinute, bucket.tokens + (now - bucket.updatedAt) * perMs)
    bucket.updatedAt = now
    return bucket
  }

  const headers = (bucket: Bucket): RateHeaders => {
    const untilFull = Math.ceil((perMinute - bucket.tokens) / perMs / 1000)
    return {
      'RateLimit-Policy': policyHeader,
      RateLimit: `"${policy}";r=${Math.floor(bucket.tokens)};t=${untilFull}`,
    }
  }

  const refuseEmpty = (bucket: Bucket) => {
    if (bucket.tokens >= 1) return
    const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000))
    throw new ApiError('rate_limited', `Too many requests. Try again in ${seconds} s.`, {
      headers: { ...headers(bucket), 'Retry-After': String(seconds) },
    })
  }

  return {
    check(key) {
      const bucket = refilled(key)
      refuseEmpty(bucket)
      return headers(bucket)
    },
    take(key) {
      const bucket = refilled(key)
      refuseEmpty(bucket)
      bucket.tokens -= 1
      return headers(bucket)
    },
  }
}

function dropOldest(map: Map<string, unknown>): void {
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}
