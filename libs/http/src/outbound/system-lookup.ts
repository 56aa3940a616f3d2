import type { LookupAddress } from 'node:dns'

/** The system's resolver blocks a thread while it works, and the process has four for files and compression, too. */
const maxAtOnce = 2

/** `lookup`, a few at a time; others wait for their turn until their signal aborts. */
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
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        waiting.delete(begin)
        reject(signal.reason)
      }
      waiting.add(begin)
      signal.addEventListener('abort', giveUp, { once: true })
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

/** The addresses of a name, at least one. Throws when there are none, or none are known before `signal` aborts. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>
