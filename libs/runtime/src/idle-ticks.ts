import { systemTimers, type Timer, type Timers } from './timers.js'

let divisor = 1

/**
 * Has the rests of this process be so many times shorter, where they go by the clock of the system: for tests, which else wait for
 * what is found only at rest. Returns by how much they were shorter before.
 */
export function shortenIdleIntervals(by: number): number {
  const before = divisor
  divisor = by
  return before
}

/** A rest of so many milliseconds, after `shortenIdleIntervals` a shorter one. */
export const idleIntervalMs = (ms: number, timers: Pick<Timers, 'now'> = systemTimers): number =>
  timers === systemTimers ? ms / divisor : ms

/** Schedules of people begin at whole minutes: what happens at rest keeps away from them. */
const offsetMs = 2_700

/**
 * How long it is, in whole ms, until the next of the moments that lie `everyMs` apart and are the same ones in all processes of a
 * machine, and at least `leastMs` away: between that and as much plus `everyMs`. What is done at rest every few seconds waits so
 * long. All of a process then happens in one waking, and what several ask of a server at once wakes that once, too: at rest
 * the waking costs more than what is done (ADR 113).
 */
export function msToIdleTick(
  everyMs: number,
  leastMs = everyMs / 50,
  timers: Pick<Timers, 'now' | 'timeOrigin'> = systemTimers,
): number {
  return msToSharedTick(idleIntervalMs(everyMs, timers), idleIntervalMs(leastMs, timers), timers)
}

/** The same for what is no rest but lasts until such a moment, and is never shorter than `leastMs`. */
export function msToSharedTick(
  everyMs: number,
  leastMs: number,
  timers: Pick<Timers, 'now' | 'timeOrigin'> = systemTimers,
): number {
  const present = timers.timeOrigin + timers.now() - offsetMs
  return Math.ceil(Math.ceil((present + leastMs) / everyMs) * everyMs - present)
}

/** Calls back at each of these moments, which keeps no process alive. Returns how to stop it. */
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
