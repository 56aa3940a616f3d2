import { ApiError } from '@opsplane/contracts'
import { networkOf } from '@opsplane/runtime'

/** Lets so many requests be under way at once; the others are refused here, which costs next to nothing. */
export interface LoginLimiter {
  /**
   * Counts a request that is complete; what it returns is to be called once the service has answered, or never will.
   * Throws ApiError `service_unavailable`.
   */
  acquire(address: string): () => void
}

/**
 * Public routes check passwords, which takes a core for some 20 ms each. What would only queue for that behind the
 * gateway is refused at it, so that a flood of guesses leaves the services to everybody else; no network takes more
 * than its share.
 */
export function createLoginLimiter({
  total,
  perNetwork,
}: {
  total: number
  perNetwork: number
}): LoginLimiter {
  const underWay = new Map<string, number>()
  let all = 0

  return {
    acquire(address) {
      const network = networkOf(address)
      const own = underWay.get(network) ?? 0
      if (all >= total || own >= perNetwork) {
        throw new ApiError('service_unavailable', 'Too many logins at once. Try again in a moment.')
      }
      all++
      underWay.set(network, own + 1)
      let released = false
      return () => {
        if (released) return
        released = true
        all--
        const left = (underWay.get(network) ?? 1) - 1
        if (left > 0) underWay.set(network, left)
        else underWay.delete(network)
      }
    },
  }
}
