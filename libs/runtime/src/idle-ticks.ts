import { systemTimers, type Timer, type Timers } from './timers.js'

let divisor = 1

/**
 * Divides the idle intervals of this process that use the system clock by `by`: for tests, which would otherwise
 * wait for work done only while idle. Returns the previous divisor.
 */
export function shortenIdleIntervals(by: number): number {
  const before = divisor
  divisor = by
  return before
}

/** An idle interval in milliseconds, shortened by `shortenIdleIntervals`. */
export const idleIntervalMs = (ms: number, timers: Pick<Timers, 'now'> = systemTimers): number =>
  timers === systemTimers ? ms / divisor : ms

/** People schedule work at full minutes; idle work avoids those moments. */
const offsetMs = 2_700

/**
 * Milliseconds, as an integer, until the next tick that is at least `leastMs` away; so at most `leastMs +
 * everyMs`. Ticks are `everyMs` apart and the same in all processes of a machine. Periodic idle work waits for
 * this tick, so that all such work of a process shares one wake-up, and concurrent requests of several processes
 * wake a server only once: while idle, the wake-up costs more than the work (ADR 113).
 */
export function msToIdleTick(
  everyMs: number,
  leastMs = everyMs / 50,
  timers: Pick<Timers, 'now' | 'timeOrigin'> = systemTimers,
): number {
  return msToSharedTick(idleIntervalMs(everyMs, timers), idleIntervalMs(leastMs, timers), timers)
}

/**
 * The same for durations that are not idle intervals, but end at such a tick, and are never shorter than
 * `leastMs`.
 */
export function msToSharedTick(
  everyMs: number,
  leastMs: number,
  timers: Pick<Timers, 'now' | 'timeOrigin'> = systemTimers,
): number {
  const present = timers.timeOrigin + timers.now() - offsetMs
  return Math.ceil(Math.ceil((present + leastMs) / everyMs) * everyMs - present)
}

/** Calls back at each tick, without keeping the process alive. Returns a function that stops it. */
export function onIdleTicks(everyMs: number, act: () => void, timers: Timers = systemTimers): () => void {
  let timer: Timer
  const wait = () => {
    timer = timers.setTimeout(
      () => {
        wait()
        act()
      },
      msToIdleTick(everyMs, undefined, timers),
    )
    timer.unref()
  }
  wait()
  return () => timers.clearTimeout(timer)
}
