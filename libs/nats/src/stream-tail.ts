import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import { type Msg, nanos } from '@nats-io/transport-node'
import { delay, type Logger, onIdleTicks, retryDelayMs } from '@opsplane/runtime'
import { NatsLinkClosedError } from './errors.js'
import { createUserInbox } from './inbox.js'
import type { NatsLink } from './link.js'
import { onReconnect } from './reconnects.js'
import { parseDelivery } from './stream-message.js'
import { logInterruption, openStreamManager } from './streams.js'

interface StreamTailOptions {
  link: NatsLink
  stream: string
  log: Logger
  /** A message was stored. */
  onMessage(subject: string): void
  /** The tail has started or restarted: messages may have been stored unseen before. */
  onReset(): void
}

export interface StreamTail {
  /** Restarts immediately, when the stream is known to have been recreated. */
  restart(): void
  close(): Promise<void>
}

const heartbeatMs = 10_000
const silenceMs = 22_000
const watchMs = 5_000

/**
 * Reports what is stored in a stream from now on, until closed: one ephemeral consumer, headers only, no
 * acknowledgements. A plain subscription would report messages before they can be read, and duplicates.
 */
export function streamTail({ link, stream, log, onMessage, onReset }: StreamTailOptions): StreamTail {
  const closing = new AbortController()
  let lose: () => void = () => {}
  let failures = 0

  /** Follows the stream until the connection, the consumer or the server is lost. */
  const follow = async () => {
    const connection = await link.ready(closing.signal)
    const inbox = createUserInbox(connection)
    const lost = new Promise<void>((resolve) => {
      lose = resolve
    })
    let expected = 1
    let lastReceivedAt = performance.now()
    const onDelivery = (error: Error | null, message: Msg) => {
      lastReceivedAt = performance.now()
      const number = error ? undefined : parseDelivery(message.reply)?.number
      // A heartbeat has no reply subject to acknowledge.
      if (number === undefined) return
      if (number !== expected++) lose()
      onMessage(message.subject)
    }
    const forget = onReconnect(connection, () => lose())
    const subscription = connection.subscribe(inbox, { callback: onDelivery })
    const stopWatching = onIdleTicks(watchMs, () => {
      if (performance.now() - lastReceivedAt > silenceMs) lose()
    })
    try {
      const { consumers } = await openStreamManager(connection)
      const { name } = await consumers.add(stream, {
        deliver_subject: inbox,
        deliver_policy: DeliverPolicy.New,
        ack_policy: AckPolicy.None,
        headers_only: true,
        mem_storage: true,
        idle_heartbeat: nanos(heartbeatMs),
        inactive_threshold: nanos(silenceMs),
      })
      failures = 0
      onReset()
      if (!closing.signal.aborted) await lost
      if (!connection.isClosed()) void consumers.delete(stream, name).catch(() => {})
    } finally {
      stopWatching()
      forget()
      subscription.unsubscribe()
    }
  }

  const run = async () => {
    while (!closing.signal.aborted) {
      try {
        await follow()
      } catch (error) {
        if (error instanceof NatsLinkClosedError || closing.signal.aborted) return
        failures++
        if (failures === 1)
          logInterruption(log, error, { stream }, 'the stream cannot be followed; trying again')
        const timing = { strategy: 'exponential', baseMs: 100, maxMs: 2_000 } as const
        await delay(retryDelayMs({ attempt: failures, ...timing }), closing.signal)
      }
    }
  }
  const running = run()

  return {
    restart: () => lose(),
    async close() {
      closing.abort()
      lose()
      await running
    },
  }
}
