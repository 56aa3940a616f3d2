import type { StreamState } from './reader.js'

/** Whether the page shows current data. */
export type Liveness = 'connecting' | 'live' | 'reconnecting' | 'stale'

/** After this time without an update, a page counts as stale, in milliseconds. */
const staleAfterMs = 15_000

export interface LiveStatus {
  state: StreamState
  /** When the last message arrived or the page was opened, in epoch milliseconds. */
  heardMs: number
}

export function computeLiveness({ state, heardMs }: LiveStatus, nowMs: number, silenceMs: number): Liveness {
  const silentMs = nowMs - heardMs
  if (state === 'ended') return 'stale'
  // The tab that reads the stream for this tab no longer sends messages.
  if (state === 'live') return silentMs < silenceMs ? 'live' : 'stale'
  if (silentMs >= staleAfterMs) return 'stale'
  return state
}
