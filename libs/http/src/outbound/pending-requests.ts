/** A request in flight. */
interface PendingRequest {
  /** Number of connections opened to the origin since the request began. */
  opened(): number
  end(): void
}

/** Requests in flight per origin, and work that is only useful while there are any. */
export interface PendingRequests {
  begin(origin: string): PendingRequest
  isWaitedFor(origin: string): boolean
  /**
   * Calls `abandon` when the last request to the origin has ended. Call the result once
   * the connection is open or has failed.
   */
  whileWaitedFor(origin: string, abandon: () => void): (isOpen: boolean) => void
}

interface Entry {
  requests: number
  opened: number
  efforts: Set<() => void>
}

/**
 * undici continues to connect after the requests that need the connection were aborted. Without this, an endpoint that
 * accepts connections but never finishes a handshake would hold their sockets long beyond every deadline.
 */
export function createPendingRequests(): PendingRequests {
  const origins = new Map<string, Entry>()
  const entryOf = (origin: string): Entry => {
    const known = origins.get(origin)
    if (known) return known
    const fresh = { requests: 0, opened: 0, efforts: new Set<() => void>() }
    origins.set(origin, fresh)
    return fresh
  }
  const forgetIfIdle = (origin: string, { requests, efforts }: Entry) => {
    if (requests === 0 && efforts.size === 0) origins.delete(origin)
  }

  return {
    begin(origin) {
      const entry = entryOf(origin)
      const openedBefore = entry.opened
      entry.requests++
      return {
        opened: () => entry.opened - openedBefore,
        end() {
          entry.requests--
          if (entry.requests > 0) return
          for (const abandon of [...entry.efforts]) abandon()
          forgetIfIdle(origin, entry)
        },
      }
    },
    isWaitedFor: (origin) => (origins.get(origin)?.requests ?? 0) > 0,
    whileWaitedFor(origin, abandon) {
      const entry = entryOf(origin)
      entry.efforts.add(abandon)
      return (isOpen) => {
        if (isOpen) entry.opened++
        entry.efforts.delete(abandon)
        forgetIfIdle(origin, entry)
      }
    },
  }
}
