import type { Socket } from 'node:net'

/** A request under way. */
export interface Visit {
  /** Resolves when it may be sent: there may be a connection for it, or it may have one opened. */
  turn: Promise<void>
  /** Connections opened to the origin since it began. */
  opened(): number
  end(): void
}

/** Requests under way per origin, and what is only worth doing while there are any. */
export interface Waiting {
  begin(origin: string): Visit
  isWaitedFor(origin: string): boolean
  /** Calls `giveUp` when no request to the origin is left. Call the result with the connection, or with none. */
  whileWaitedFor(origin: string, giveUp: () => void): (opened: Socket | undefined) => void
}

interface Entry {
  requests: number
  /** Those of them that had their turn. */
  sent: number
  line: Set<() => void>
  opened: number
  /** Connections that are open. */
  open: number
  efforts: Set<() => void>
}

/**
 * So many requests more than it has connections are sent to an origin, so that at most so many are being opened. undici
 * opens one for each request that finds all in use, for it alone: after a stall of some tenths of a second that is as many
 * handshakes as requests have gathered, which take longer than the stall did, while the next ones gather.
 */
const mostDials = 8

/**
 * undici goes on connecting when the requests it does so for have been given up. An endpoint that accepts
 * connections and never finishes a handshake would hold their sockets long beyond every deadline.
 */
export function createWaiting(): Waiting {
  const origins = new Map<string, Entry>()
  const entryOf = (origin: string): Entry => {
    const known = origins.get(origin)
    if (known) return known
    const fresh: Entry = { requests: 0, sent: 0, line: new Set(), opened: 0, open: 0, efforts: new Set() }
    origins.set(origin, fresh)
    return fresh
  }
  const forgetIfIdle = (origin: string, { requests, open, efforts }: Entry) => {
    if (requests === 0 && open === 0 && efforts.size === 0) origins.delete(origin)
  }
  const admit = (entry: Entry) => {
    for (const send of entry.line) {
      if (entry.sent >= entry.open + mostDials) return
      entry.line.delete(send)
      entry.sent++
      send()
    }
  }

  return {
    begin(origin) {
      const entry = entryOf(origin)
      const openedBefore = entry.opened
      entry.requests++
      let send = () => {}
      const turn = new Promise<void>((resolve) => {
        send = resolve
      })
      entry.line.add(send)
      admit(entry)
      return {
        turn,
        opened: () => entry.opened - openedBefore,
        end() {
          entry.requests--
          if (!entry.line.delete(send)) entry.sent--
          admit(entry)
          if (entry.requests > 0) return
          for (const giveUp of [...entry.efforts]) giveUp()
          forgetIfIdle(origin, entry)
        },
      }
    },
    isWaitedFor: (origin) => (origins.get(origin)?.requests ?? 0) > 0,
    whileWaitedFor(origin, giveUp) {
      const entry = entryOf(origin)
      entry.efforts.add(giveUp)
      return (opened) => {
        entry.efforts.delete(giveUp)
        if (opened) {
          entry.opened++
          entry.open++
          opened.once('close', () => {
            entry.open--
            forgetIfIdle(origin, entry)
          })
          admit(entry)
        }
        forgetIfIdle(origin, entry)
      }
    },
  }
}
