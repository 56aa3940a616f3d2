import type { LookupAddress } from 'node:dns'

/**
 * Maximum concurrent lookups: the system's resolver blocks a thread, and the process has four, also used for files and
 * compression.
 */
const maxAtOnce = 2

/** Limits concurrent calls of `lookup`; further calls wait for a slot until their signal aborts. */
export function createBoundedLookup(lookup: Resolve): Resolve {
  const waiting = new Set<() => void>()
  let underway = 0

  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted()
      if (underway < maxAtOnce) {
        underway++
        resolve()
        return
      }
      const begin = () => {
        signal.removeEventListener('abort', abandon)
        resolve()
      }
      const abandon = () => {
        waiting.delete(begin)
        reject(signal.reason)
      }
      waiting.add(begin)
      signal.addEventListener('abort', abandon, { once: true })
    })
  const pass = () => {
    const [next] = waiting
    if (!next) underway--
    else {
      waiting.delete(next)
      next()
    }
  }

  return async (hostname, signal) => {
    await turn(signal)
    try {
      return await lookup(hostname, signal)
    } finally {
      pass()
    }
  }
}

/** The addresses of a name, at least one. Throws if there are none, or if `signal` aborts before any are known. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>
