import { networkOf } from '@opsplane/runtime'
import type { RateHeaders, RateLimiter } from './rate-limit.js'

/** Limits the bytes that one network is sent without a login: documents cost little to ask for and much to send. */
export interface AnonymousBytes {
  /** Throws `rate_limited` while the network has been sent too much. */
  check(clientAddress: string): RateHeaders
  /** Counts what is sent. */
  spend(clientAddress: string, bytes: number): void
}

export function createAnonymousBytes(limiter: RateLimiter): AnonymousBytes {
  return {
    check: (clientAddress) => limiter.check(networkOf(clientAddress)),
    spend: (clientAddress, bytes) => {
      if (bytes > 0) limiter.spend(networkOf(clientAddress), bytes)
    },
  }
}
