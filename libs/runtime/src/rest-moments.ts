/** Schedules of people begin at whole minutes: what happens at rest keeps away from them. */
const offsetMs = 2_700

/**
 * How long it is, in whole ms, until the next of the moments that lie `everyMs` apart and are the same ones in all processes of a
 * machine, and at least `leastMs` away: between that and as much plus `everyMs`. What is done at rest every few seconds waits so
 * long. All of a process then happens in one waking, and what several ask of a server at once wakes that once, too: at rest
 * the waking costs more than what is done (ADR 113).
 */
export function untilRestMoment(everyMs: number, leastMs = everyMs / 50): number {
  const present = performance.timeOrigin + performance.now() - offsetMs
  return Math.ceil(Math.ceil((present + leastMs) / everyMs) * everyMs - present)
}

/** Calls back at each of these moments, which keeps no process alive. Returns how to stop it. */
export function atRestMoments(everyMs: number, act: () => void): () => void {
  const wait = () =>
    setTimeout(() => {
      timer = wait()
      act()
    }, untilRestMoment(everyMs)).unref()
  let timer = wait()
  return () => clearTimeout(timer)
}
