import type { SentEvent } from '@opsplane/contracts/sent-events'
import type { StreamState } from './reader.js'

/** What tabs say to one another. */
export type TabMessage =
  | { kind: 'message'; message: SentEvent }
  | { kind: 'state'; state: StreamState; after: number | undefined }
  | { kind: 'question' }

export interface Channel {
  post(message: TabMessage): void
  listen(onMessage: (message: TabMessage) => void): void
  close(): void
}

export interface SharedStreamOptions {
  /** Runs the work in one tab at a time, and in another one once that is closed. */
  lead(work: () => Promise<void>, signal: AbortSignal): Promise<void>
  channel: Channel
  read(given: {
    after: number | undefined
    onMessage(message: SentEvent): void
    onState(state: StreamState): void
    signal: AbortSignal
  }): Promise<void>
  onMessage(message: SentEvent): void
  onState(state: StreamState): void
}

/**
 * One stream for all tabs of a browser, which has but six connections to a host: one tab reads it and passes everything on.
 * The tab that reads it next goes on where the others were. Gives back how a tab leaves.
 */
export function shareStream({ lead, channel, read, onMessage, onState }: SharedStreamOptions): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  let after: number | undefined
  let own: StreamState | undefined
  const deliver = (message: SentEvent) => {
    after = message.id ?? after
    onMessage(message)
  }
  channel.listen((said) => {
    if (signal.aborted) return
    if (said.kind === 'question') {
      if (own !== undefined) channel.post({ kind: 'state', state: own, after })
    } else if (own === undefined) {
      if (said.kind === 'message') {
        onState('live')
        deliver(said.message)
      } else {
        after = said.after ?? after
        onState(said.state)
      }
    }
  })
  channel.post({ kind: 'question' })
  const reading = lead(
    () =>
      read({
        after,
        signal,
        onMessage: (message) => {
          deliver(message)
          channel.post({ kind: 'message', message })
        },
        onState: (state) => {
          if (state === own) return
          own = state
          onState(state)
          channel.post({ kind: 'state', state, after })
        },
      }),
    signal,
  )
  // To leave before it was one's turn is no failure.
  reading.catch(() => undefined).finally(() => channel.close())
  return () => leaving.abort()
}
