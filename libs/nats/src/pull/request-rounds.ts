import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'

/** Decides when a consumer requests the messages that collect at the server. */
export interface RequestRounds {
  /**
   * Whether the next round has begun: its request returns the messages that exist, or the first one to arrive, and
   * ends.
   */
  mayRequest(): boolean
  /**
   * A message arrived; `waiting` is the number of undelivered messages left at the server. `filled`: it was the last
   * one requested.
   */
  came(waiting: number, filled: boolean): void
  /** The server has ended the request: with the existing messages, or with none after it expired. */
  ended(): void
  /** Another replica has already requested the waiting messages. */
  refused(): void
  /** Whether the rest of a round is about to arrive, so that waiting for it is worthwhile. */
  isGathering(): boolean
  close(): void
}

interface RequestRoundsOptions {
  /** Minimum time between two rounds; a function is evaluated in each round. */
  spacingMs: number | (() => number)
  /** If this many messages wait, the next round begins immediately. */
  full: number
  /** Called when there may be messages to request or to handle. */
  again(): void
  timers?: Timers
}

/**
 * Lets messages collect at the server, where each further one costs nothing, instead of in this process, where
 * each causes a wake-up and a write to acknowledge it. After a pause the first message is delivered immediately.
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
  const startRound = () => {
    phase = 'asking'
    again()
  }
  const after = (ms: number, next: () => void) => {
    timers.clearTimeout(timer)
    timer = timers.setTimeout(next, ms)
  }
  const end = () => {
    phase = 'between'
    after(waiting >= full ? 0 : spacing(), startRound)
  }

  return {
    mayRequest: () => phase !== 'between',
    came(left, filled) {
      waiting = left
      if (filled) return end()
      // If the server never reports the end of the request, the messages that have arrived are handled nevertheless.
      if (phase === 'asking') after(spacing(), startRound)
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
