import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'

/** When a consumer asks for messages that gather at the server. */
export interface RequestRounds {
  /** Whether the next round has begun: a request of it takes what there is, or the first message that comes, and ends. */
  mayRequest(): boolean
  /**
   * A message came; `waiting` more are left at the server that it has not delivered yet. `filled`: it was the last one that
   * was asked for.
   */
  came(waiting: number, filled: boolean): void
  /** The server has ended the request: with what there was, or with nothing after its time was up. */
  ended(): void
  /** What waits is asked for by another replica already. */
  refused(): void
  /** Whether the rest of a round is about to arrive, so that it is worth waiting for. */
  isGathering(): boolean
  close(): void
}

interface RequestRoundsOptions {
  /** Least time between two rounds; asked for at each one. */
  spacingMs: number | (() => number)
  /** When so many wait, the next round begins at once. */
  full: number
  /** There may be something to ask for, or to handle. */
  again(): void
  timers?: Timers
}

/**
 * Lets messages gather at the server, where one more costs nothing, instead of here, where each wakes the process that
 * reads it and takes a write to acknowledge. After a pause the first one comes at once.
 */
export function requestRounds({
  spacingMs,
  full,
  again,
  timers = systemTimers,
}: RequestRoundsOptions): RequestRounds {
  let phase: 'asking' | 'gathering' | 'between' = 'asking'
  let waiting = 0
  let timer: Timer | undefined

  const spacing = () => (typeof spacingMs === 'function' ? spacingMs() : spacingMs)
  const ask = () => {
    phase = 'asking'
    again()
  }
  const after = (ms: number, next: () => void) => {
    timers.clearTimeout(timer)
    timer = timers.setTimeout(next, ms)
  }
  const end = () => {
    phase = 'between'
    after(waiting >= full ? 0 : spacing(), ask)
  }

  return {
    mayRequest: () => phase !== 'between',
    came(left, filled) {
      waiting = left
      if (filled) return end()
      // Should the server never say that the request has ended, what has come is handled all the same.
      if (phase === 'asking') after(spacing(), ask)
      phase = 'gathering'
    },
    ended() {
      if (phase === 'gathering') end()
    },
    refused() {
      waiting = 0
      end()
    },
    isGathering: () => phase === 'gathering',
    close: () => timers.clearTimeout(timer),
  }
}
