import type { ServerResponse } from 'node:http'
import { ApiError } from '@opsplane/contracts'

/** Lets so many requests be under way at once; the others are refused here, which costs next to nothing. */
export interface LoginLimiter {
  /** Counts the request until its answer is over. Throws ApiError `service_unavailable`. */
  acquire(address: string, response: ServerResponse): void
}

/**
 * Public routes check passwords, which takes a core for some 20 ms each. What would only queue for that behind the
 * gateway is refused at it, so that a flood of guesses leaves the services to everybody else; no address takes more
 * than its share.
 */
export function createLoginLimiter({
  total,
  perAddress,
}: {
  total: number
  perAddress: number
}): LoginLimiter {
  const underWay = new Map<string, number>()
  let all = 0

  return {
    acquire(address, response) {
      const own = underWay.get(address) ?? 0
      if (all >= total || own >= perAddress) {
        throw new ApiError('service_unavailable', 'Too many logins at once. Try again in a moment.')
      }
      all++
      underWay.set(address, own + 1)
      response.once('close', () => {
        all--
        const left = (underWay.get(address) ?? 1) - 1
        if (left > 0) underWay.set(address, left)
        else underWay.delete(address)
      })
    },
  }
}
