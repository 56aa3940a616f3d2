import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'

/** Calls each listener once per interval, with one timer for all of them. */
export interface Heartbeats {
  /** Adds a listener; the returned function removes it. */
  add(listener: () => void): () => void
  /** Calls all listeners immediately. */
  all(): void
  close(): void
}

/** Number of groups per interval, so that not all listeners are called at the same time. */
const turns = 5

export function createHeartbeats(
  intervalMs: number,
  timers: Pick<Timers, 'setTimeout' | 'clearTimeout'> = systemTimers,
): Heartbeats {
  const groups = Array.from({ length: turns }, () => new Set<() => void>())
  let turn = 0
  let added = 0
  let timer: Timer | undefined

  const close = () => {
    timers.clearTimeout(timer)
    timer = undefined
  }
  const schedule = () => {
    timer = timers.setTimeout(() => {
      timer = undefined
      turn = (turn + 1) % turns
      if (groups.some(({ size }) => size > 0)) schedule()
      for (const listener of [...(groups[turn] ?? [])]) listener()
    }, intervalMs / turns)
    timer.unref()
  }

  return {
    add(listener) {
      const group = groups[added++ % turns]
      group?.add(listener)
      if (timer === undefined) schedule()
      return () => void group?.delete(listener)
    },
    all() {
      for (const group of groups) for (const listener of [...group]) listener()
    },
    close,
  }
}
