import type { Actor } from '@opsplane/contracts'
import type { Signal } from '../engine/signal.js'

/** A signal on its way to a run, with its actor; `null` for the run's own signals. */
export interface SignalEnvelope {
  signal: Signal
  actor: Actor | null
  requestId: string | null
  /** Id of the signal in the run's inbox. */
  inboxId?: number
  /** The attempt of the run it was sent to; a later attempt ignores it. */
  attempt?: number | undefined
}

export const wrapOwnSignal = (signal: Signal): SignalEnvelope => ({ signal, actor: null, requestId: null })

export type SignalResult =
  /** The run has changed, and the change is committed. */
  | 'changed'
  /** The signal is late, repeated, or does not apply to the run's current state. */
  | 'ignored'
  /** This worker no longer executes the run and has not processed the signal. */
  | 'gone'

/** The result of a signal in the inbox of a run. */
export type InboxOutcome = Exclude<SignalResult, 'gone'>
