/** When a consumer asks for messages, and for how many. */
export interface RequestRounds {
  /** How many to ask for now, `most` at most; undefined until the next round, which `again` is called for. */
  next(most: number): number | undefined
  /**
   * A message came; `waiting` more are left at the server that it has not delivered yet. `filled`: it was the last one that
   * was asked for. `redelivered`: it came before, as may have others, which the server does not count.
   */
  came(waiting: number, filled: boolean, redelivered?: boolean): void
  /** The request has ended before it was filled. */
  ended(): void
  /** Whether the rest of a round is about to arrive, so that it is worth waiting for. */
  isGathering(): boolean
  close(): void
}

export interface RequestRoundsOptions {
  /** Least time between two rounds. */
  spacingMs: number
  /** When so many wait, the next round begins at once. */
  full: number
  /** There may be something to ask for, or to handle. */
  again(): void
}

/** For consumers that want each message as soon as it is there: whatever there is room for is asked for, always. */
export const unspaced: RequestRounds = {
  next: (most) => most,
  came() {},
  ended() {},
  isGathering: () => false,
  close() {},
}

/**
 * Lets messages gather at the server, where one more costs nothing, instead of here, where each wakes the process that
 * reads it and takes a write to acknowledge. A round asks for one message, which after a pause comes at once and says
 * how many wait behind it, and then for exactly those.
 */
export function requestRounds({ spacingMs, full, again }: RequestRoundsOptions): RequestRounds {
  let phase: 'first' | 'rest' | 'asked' | 'between' = 'first'
  let waiting = 0
  let timer: NodeJS.Timeout | undefined

  const begin = () => {
    phase = 'first'
    again()
  }
  const end = () => {
    clearTimeout(timer)
    phase = 'between'
    timer = setTimeout(begin, waiting >= full ? 0 : spacingMs)
  }

  return {
    next(most) {
      if (phase === 'between') return undefined
      if (phase === 'rest') {
        phase = 'asked'
        // Another replica may have been given some of it.
        timer = setTimeout(() => {
          end()
          again()
        }, spacingMs)
      }
      return Math.min(Math.max(waiting, 1), most)
    },
    came(left, filled, redelivered = false) {
      // What a process that was killed had in hand comes again all at once: one a round would take as many rounds.
      waiting = redelivered ? Math.max(left, full) : left
      if (!filled) return
      if (phase === 'first' && waiting > 0) phase = 'rest'
      else end()
    },
    ended() {
      waiting = 0
      if (phase !== 'first') end()
    },
    isGathering: () => phase === 'asked',
    close: () => clearTimeout(timer),
  }
}
