import type { StreamState } from './reader.js'

/** What the page says of itself: whether it shows what is so now. */
export type Liveness = 'connecting' | 'live' | 'reconnecting' | 'stale'

/** Pages that are brought up to date by nothing for this long are old. */
const staleAfterMs = 15_000

export interface LiveStatus {
  state: StreamState
  /** When something last arrived, or the page was opened. */
  heardMs: number
}

export function computeLiveness({ state, heardMs }: LiveStatus, nowMs: number, silenceMs: number): Liveness {
  const silentMs = nowMs - heardMs
  if (state === 'ended') return 'stale'
  // The tab that reads the stream for this one says nothing any more.
  if (state === 'live') return silentMs < silenceMs ? 'live' : 'stale'
  if (silentMs >= staleAfterMs) return 'stale'
  return state
}
