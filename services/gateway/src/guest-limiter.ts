import { ApiError } from '@opsplane/contracts'
import { parseNetwork } from '@opsplane/runtime'

/** Limits what is in flight for requests without a token; the others are refused here, at almost no cost. */
export interface GuestLimiter {
  /**
   * Counts a request, or the bytes of its body; call what it returns once the service has answered, or never will.
   * Throws ApiError `service_unavailable`.
   */
  acquire(address: string, amount?: number): () => void
}

/**
 * Requests in flight, or bytes of their bodies in memory. Public routes check passwords, which takes a core for some 20 ms each. What would only queue for that behind the
 * gateway is refused at it, so that a flood of guesses leaves the services to the other clients; no network takes more
 * than its share.
 */
export function createGuestLimiter({
  total,
  perNetwork,
}: {
  total: number
  perNetwork: number
}): GuestLimiter {
  const inFlight = new Map<string, number>()
  let all = 0

  return {
    acquire(address, amount = 1) {
      const network = parseNetwork(address)
      const own = inFlight.get(network) ?? 0
      if (all + amount > total || own + amount > perNetwork) {
        throw new ApiError(
          'service_unavailable',
          'Too many requests without a login at once. Try again in a moment.',
        )
      }
      all += amount
      inFlight.set(network, own + amount)
      let released = false
      return () => {
        if (released) return
        released = true
        all -= amount
        const left = (inFlight.get(network) ?? amount) - amount
        if (left > 0) inFlight.set(network, left)
        else inFlight.delete(network)
      }
    },
  }
}
