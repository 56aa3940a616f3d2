import { ApiError } from '@opsplane/contracts'
import { parseNetwork } from '@opsplane/runtime'

/** Lets so much of strangers' requests be under way at once; the others are refused here, which costs next to nothing. */
export interface StrangerLimiter {
  /**
   * Counts a request, or the bytes of its body; what it returns is to be called once the service has answered, or never will.
   * Throws ApiError `service_unavailable`.
   */
  acquire(address: string, amount?: number): () => void
}

/**
 * Requests under way, or bytes of their bodies that are in memory. Public routes check passwords, which takes a core for some 20 ms each. What would only queue for that behind the
 * gateway is refused at it, so that a flood of guesses leaves the services to everybody else; no network takes more
 * than its share.
 */
export function createStrangerLimiter({
  total,
  perNetwork,
}: {
  total: number
  perNetwork: number
}): StrangerLimiter {
  const underWay = new Map<string, number>()
  let all = 0

  return {
    acquire(address, amount = 1) {
      const network = parseNetwork(address)
      const own = underWay.get(network) ?? 0
      if (all + amount > total || own + amount > perNetwork) {
        throw new ApiError(
          'service_unavailable',
          'Too many requests without a login at once. Try again in a moment.',
        )
      }
      all += amount
      underWay.set(network, own + amount)
      let released = false
      return () => {
        if (released) return
        released = true
        all -= amount
        const left = (underWay.get(network) ?? amount) - amount
        if (left > 0) underWay.set(network, left)
        else underWay.delete(network)
      }
    },
  }
}
