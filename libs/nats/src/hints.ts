import type { Msg, Subscription } from '@nats-io/transport-node'
import type { NatsLink } from './link.js'
import { onReconnect } from './reconnects.js'

/** Publishes to a subject of core NATS, and drops the message while the server is away. */
export function publishHint(link: NatsLink, subject: string, payload?: string): void {
  if (!link.connected()) return
  void link
    .ready()
    .then((connection) => connection.publish(subject, payload))
    .catch(() => {})
}

/**
 * Calls back with each message of a subject of core NATS, and without one whenever some may have been missed: at the beginning, and
 * after the connection was lost. What a hint is about stands elsewhere.
 */
export function listenForHints(link: NatsLink, subject: string, onHint: (message?: Msg) => void) {
  const closing = new AbortController()
  let subscription: Subscription | undefined
  let stop = () => {}

  const run = async () => {
    while (!closing.signal.aborted) {
      const connection = await link.ready(closing.signal)
      if (closing.signal.aborted) return
      const forget = onReconnect(connection, () => onHint())
      subscription = connection.subscribe(subject, { callback: (_error, message) => onHint(message) })
      onHint()
      const stopped = new Promise<void>((resolve) => {
        stop = resolve
      })
      await Promise.race([connection.closed(), stopped])
      forget()
    }
  }
  // Rejects once the link is closed, when there is nothing more to hear.
  const running = run().catch(() => {})
  return {
    async close() {
      closing.abort()
      stop()
      subscription?.unsubscribe()
      await running
    },
  }
}
