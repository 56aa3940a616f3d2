import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node'
import { atRestMoments, delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import { NatsLinkClosedError } from './errors.js'
import { inboxOf } from './inbox.js'
import type { NatsLink } from './link.js'
import { managerOf } from './manager.js'
import { onReconnect } from './reconnects.js'
import { deliveryOf } from './stream-message.js'
import { logInterruption } from './streams.js'

export interface StreamTailOptions {
  link: NatsLink
  stream: string
  log: Logger
  /** A message was stored. */
  onMessage(subject: string): void
  /** The tail has begun, or begun again: anything may have been stored unseen before. */
  onReset(): void
}

export interface StreamTail {
  /** Begins again at once, when the stream is known to be another one. */
  restart(): void
  close(): Promise<void>
}

const heartbeatMs = 10_000
const silenceMs = 22_000
const watchMs = 5_000

/**
 * Tells what is stored in a stream from now on, for as long as it takes: one ephemeral consumer, headers only,
 * no acknowledgements. A plain subscription would tell of a message before it can be read, and of duplicates.
 */
export function streamTail(options: StreamTailOptions): StreamTail {
  const { link, stream, log } = options
  const closing = new AbortController()
  let lose: () => void = () => {}

  const run = async () => {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const connection = await link.ready(closing.signal)
        await follow(
          connection,
          options,
          () => (failures = 0),
          closing.signal,
          (give) => {
            lose = give
          },
        )
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

/** Follows the stream until the connection, the consumer or the server is lost. */
async function follow(
  connection: NatsConnection,
  { stream, onMessage, onReset }: StreamTailOptions,
  onBegin: () => void,
  signal: AbortSignal,
  onLose: (lose: () => void) => void,
): Promise<void> {
  const inbox = inboxOf(connection)
  let end: () => void = () => {}
  const lost = new Promise<void>((resolve) => {
    end = resolve
  })
  onLose(end)
  let expected = 1
  let heardAt = performance.now()
  const onDelivery = (error: Error | null, message: Msg) => {
    heardAt = performance.now()
    const number = error ? undefined : deliveryOf(message.reply)?.number
    // A heartbeat has no place to acknowledge to.
    if (number === undefined) return
    if (number !== expected++) end()
    onMessage(message.subject)
  }
  const forget = onReconnect(connection, end)
  const subscription = connection.subscribe(inbox, { callback: onDelivery })
  const manager = await managerOf(connection)
  const stopWatching = atRestMoments(watchMs, () => {
    if (performance.now() - heardAt > silenceMs) end()
  })
  try {
    const { name } = await manager.consumers.add(stream, {
      deliver_subject: inbox,
      deliver_policy: DeliverPolicy.New,
      ack_policy: AckPolicy.None,
      headers_only: true,
      mem_storage: true,
      idle_heartbeat: nanos(heartbeatMs),
      inactive_threshold: nanos(silenceMs),
    })
    onBegin()
    onReset()
    if (!signal.aborted) await lost
    if (!connection.isClosed()) void manager.consumers.delete(stream, name).catch(() => {})
  } finally {
    stopWatching()
    forget()
    subscription.unsubscribe()
  }
}
