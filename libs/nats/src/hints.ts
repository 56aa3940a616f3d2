import type { Msg, Subscription } from '@nats-io/transport-node'
import type { NatsLink } from './link.js'
import { onReconnect } from './reconnects.js'

/** Publishes to a subject of core NATS; drops the message while the server is unavailable. */
export function publishHint(link: NatsLink, subject: string, payload?: string): void {
  if (!link.connected()) return
  void link
    .ready()
    .then((connection) => connection.publish(subject, payload))
    .catch(() => {})
}

/**
 * Calls back with each message of a core NATS subject, and without a message whenever some may have been missed:
 * at the start, and after the connection was lost. The data a hint refers to is stored elsewhere.
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
  // Rejects once the link is closed; no more messages arrive then.
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
