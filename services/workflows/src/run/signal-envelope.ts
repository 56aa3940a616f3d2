import type { Actor } from '@opsplane/contracts'
import type { Signal } from '../engine/signal.js'

/** A signal on its way to a run, and whose doing it is: null for the run's own. */
export interface SignalEnvelope {
  signal: Signal
  actor: Actor | null
  requestId: string | null
  /** Where it stood in the inbox of the run. */
  inboxId?: number
  /** The attempt at the run that it was sent to; a later one ignores it. */
  attempt?: number | undefined
}

export const wrapOwnSignal = (signal: Signal): SignalEnvelope => ({ signal, actor: null, requestId: null })

/** What has become of a signal. */
export type SignalResult =
  /** It has changed the run, durably. */
  | 'changed'
  /** It is late, repeated, or not for the state the run is in. */
  | 'ignored'
  /** The run is not worked on here any more, and has not dealt with it. */
  | 'gone'

/** What has become of a signal in the inbox of a run. */
export type InboxOutcome = Exclude<SignalResult, 'gone'>
