import type { SentEvent } from '@opsplane/contracts/sent-events'
import type { StreamState } from './reader.js'

/** Messages between tabs. */
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
  /** Runs `work` in one tab at a time; when that tab closes, another tab runs it. */
  lead(work: () => Promise<void>, signal: AbortSignal): Promise<void>
  channel: Channel
  read(options: {
    after: number | undefined
    onMessage(message: SentEvent): void
    onState(state: StreamState): void
    signal: AbortSignal
  }): Promise<void>
  onMessage(message: SentEvent): void
  onState(state: StreamState): void
}

/**
 * Shares one stream between all tabs of a browser, which allows only six connections per host: one tab reads the stream
 * and forwards its messages. The next reading tab continues at the same position. Returns a function that makes this tab
 * leave.
 */
export function shareStream({ lead, channel, read, onMessage, onState }: SharedStreamOptions): () => void {
  const abortController = new AbortController()
  const { signal } = abortController
  let after: number | undefined
  let own: StreamState | undefined
  const deliver = (message: SentEvent) => {
    after = message.id ?? after
    onMessage(message)
  }
  channel.listen((tabMessage) => {
    if (signal.aborted) return
    if (tabMessage.kind === 'question') {
      if (own !== undefined) channel.post({ kind: 'state', state: own, after })
    } else if (own === undefined) {
      if (tabMessage.kind === 'message') {
        onState('live')
        deliver(tabMessage.message)
      } else {
        after = tabMessage.after ?? after
        onState(tabMessage.state)
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
  // Leaving before the tab became the reader is not an error.
  reading.catch(() => undefined).finally(() => channel.close())
  return () => abortController.abort()
}
