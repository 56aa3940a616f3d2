import type { Instant } from '@opsplane/contracts'
import { systemTimers, type Timers } from './timers.js'

export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => new Date().toISOString() }

/** Resolves after `ms`, or immediately when the signal aborts. Never rejects: callers check the signal. */
export function delay(ms: number, signal?: AbortSignal, timers: Timers = systemTimers): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const finish = () => {
      timers.clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = timers.setTimeout(finish, ms)
    signal?.addEventListener('abort', finish)
  })
}
