import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node'
import { delay, msToSharedTick, systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import { createUserInbox } from '../inbox.js'
import { onReconnect } from '../reconnects.js'
import { type StreamMessage, streamMessage } from '../stream-message.js'
import type { Acknowledgements } from './acknowledgements.js'
import type { RequestRounds } from './request-rounds.js'

interface PullOptions {
  connection: NatsConnection
  stream: string
  durable: string
  /** The capacity that may be requested now, and whether it is the whole buffer; `undefined` if there is none. */
  capacity(): { messages: number; bytes: number; isWhole: boolean } | undefined
  /**
   * When to request messages that have collected at the server; if absent, each message is delivered as soon as it
   * is there.
   */
  rounds?: RequestRounds | undefined
  onMessage(message: StreamMessage): void
  acks: Pick<Acknowledgements, 'send'>
  timers?: Timers
}

export interface Pull {
  /** There may be capacity now. */
  more(): void
  /** Resolves with the reason once the server, the consumer or the stream is gone, or is silent. */
  lost: Promise<string>
  /** Stops requesting. Resolves when nothing more can arrive, or after a second. */
  close(): Promise<void>
}

/** Under traffic a request to a silent server is repeated after 1.4 s: four heartbeats. */
const busy = { beatMs: 333, lookMs: 450, silentLooks: 2, leastMs: 5_000 }
/**
 * If nothing happened for the duration of a busy request, only one message is requested, and more immediately
 * after it. If a server has forgotten the request without the connection breaking, the request is repeated after
 * 30 s.
 */
const idle = { beatMs: 10_000, lookMs: 10_000, silentLooks: 2, leastMs: 290_000 }
/**
 * Requests end at multiples of this interval, shared by all consumers, so that their heartbeats coincide: when
 * idle, each one would wake the process separately. Tests must not shorten this: a request that ends before
 * silence is detected never counts as lost.
 */
const endsEveryMs = idle.beatMs
const graceMs = 250
const closeMs = 1_000

/**
 * Requests messages from a durable pull consumer, one request after the other.
 *
 * Bytes and messages in memory are both bounded, which the client's own `consume()` cannot do together. One
 * request is open at a time. It is over when it is filled, when the server reports its end, or when its time is up
 * by this process's clock, so a lost report delays nothing.
 *
 * With rounds, a request returns the messages that exist and ends, or waits for the first message and ends with
 * it: the server does so for requests with both `no_wait` and `expires`, and reports 404 or 408 after the last
 * message.
 */
export function openPull(options: PullOptions): Pull {
  const { connection, stream, durable, capacity: room, rounds, onMessage, timers = systemTimers } = options
  const inbox = createUserInbox(connection)
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`
  let open: { reply: string; left: number; until: number } | undefined
  let isQuiet = false
  /** The next message is larger than the free capacity: it is requested alone once the buffer is empty. */
  let isLarge = false
  let watching: Timer | undefined
  let serial = 0
  let silent = 0
  let isEnded = false
  let lose: (reason: string) => void = () => {}
  const lost = new Promise<string>((resolve) => {
    lose = resolve
  })

  const more = () => {
    if (open || isEnded || connection.isClosed() || rounds?.mayRequest() === false) return
    const freeCapacity = room()
    if (!freeCapacity) return
    const isAlone = isLarge && freeCapacity.isWhole
    const batch = isAlone || (isQuiet && !rounds) ? 1 : freeCapacity.messages
    const pace = isQuiet ? idle : busy
    const expiresMs = msToSharedTick(endsEveryMs, pace.leastMs, timers)
    const reply = `${inbox}.${++serial}`
    const request = {
      batch,
      ...(!isAlone && { max_bytes: freeCapacity.bytes }),
      expires: nanos(expiresMs),
      idle_heartbeat: nanos(pace.beatMs),
      ...(rounds && { no_wait: true }),
    }
    const until = timers.now() + expiresMs + graceMs
    open = { reply, left: batch, until }
    isQuiet = true
    watch(pace)
    connection.publish(subject, JSON.stringify(request), { reply })
  }

  /** Counts ticks instead of time: after this process itself was blocked, messages that have arrived are read first. */
  const watch = ({ lookMs, silentLooks }: { lookMs: number; silentLooks: number }) => {
    silent = 0
    timers.clearInterval(watching)
    watching = timers.setInterval(() => {
      if (open && timers.now() > open.until) over()
      if (!open) return more()
      if (++silent > silentLooks) lose('no heartbeats')
    }, lookMs)
  }

  const over = () => {
    open = undefined
    // Between two rounds nothing is pending, and a tick would wake the process needlessly.
    if (rounds) timers.clearInterval(watching)
  }

  const onStatus = ({ subject: reply, headers }: Msg) => {
    const { code, description } = headers ?? { code: 0, description: '' }
    if (code === 100 || reply !== open?.reply) return
    over()
    if (isEnded) return
    if (code === 404 || code === 408) {
      if (/pending/i.test(description)) rounds?.refused()
      else rounds?.ended()
      return more()
    }
    rounds?.ended()
    if (code === 409 && /maxbytes/i.test(description)) {
      isLarge = true
      // Otherwise capacity becomes available when a buffered message is done.
      if (room()?.isWhole) more()
      return
    }
    lose(code === 503 ? 'there is no such consumer' : `${code} ${description}`)
  }

  const onMsg = (error: Error | null, msg: Msg) => {
    if (error) return lose(error.message)
    silent = 0
    if (msg.subject.startsWith(inbox)) return onStatus(msg)
    const message = streamMessage(msg, options.acks)
    if (!message) return
    isQuiet = isLarge = false
    if (open && --open.left <= 0) over()
    if (!isEnded) rounds?.came(message.waiting, !open)
    onMessage(message)
    more()
  }

  const subscription = connection.subscribe(`${inbox}.*`, { callback: onMsg })
  const forget = onReconnect(connection, () =>
    lose(connection.isClosed() ? 'the connection was closed' : 'reconnected'),
  )

  watch(busy)
  more()
  return {
    more,
    lost,
    async close() {
      if (isEnded) return
      isEnded = true
      rounds?.close()
      timers.clearInterval(watching)
      forget()
      // Messages the server has sent before it processes the unsubscription still arrive.
      const waiting = new AbortController()
      await Promise.race([subscription.drain().catch(() => {}), delay(closeMs, waiting.signal, timers)])
      waiting.abort()
      if (!subscription.isClosed()) subscription.unsubscribe()
    },
  }
}
