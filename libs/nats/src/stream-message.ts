import type { Msg } from '@nats-io/transport-node'
import { parseExact } from '@opsplane/contracts'
import type { Acknowledgements } from './pull/acknowledgements.js'

/**
 * A message as a consumer received it from a stream. Acknowledgements are best effort: a lost one causes a
 * redelivery.
 */
export interface StreamMessage {
  readonly subject: string
  readonly stream: string
  /** The message's sequence in the stream. */
  readonly seq: number
  /** For an event read from a log, whose position is `seq`: the stream sequence it comes after. */
  readonly after?: number
  /** How often it was delivered, including this time. */
  readonly deliveries: number
  /** When the stream stored it, in milliseconds since 1970. */
  readonly storedMs: number
  /** Number of further messages of the consumer that were not delivered yet. */
  readonly waiting: number
  /** Approximate size in memory. */
  readonly bytes: number
  header(name: string): string | undefined
  string(): string
  json(): unknown
  /** The message is handled. */
  ack(): void
  /** The message is redelivered after this delay. */
  nak(delayMs: number): void
  /** The message is given up. */
  term(): void
  /** Signals work in progress: the ack wait starts again. */
  working(): void
  /** Its consumer was recreated: an acknowledgement would apply to a different message with the same sequence. */
  disown(): void
}

/** The name of a message in logs and dead letters: the id of its event, or its stream and sequence if it has none. */
export const readMessageId = (message: Pick<StreamMessage, 'header' | 'stream' | 'seq'>): string =>
  message.header('Nats-Msg-Id') ?? `${message.stream}/${message.seq}`

/** The information in the reply subject of a delivery. */
interface Delivery {
  stream: string
  deliveries: number
  seq: number
  /** Number of deliveries the consumer has made, including this one. */
  number: number
  storedMs: number
  waiting: number
}

/**
 * Parses `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<number>.<nanoseconds>.<waiting>`; newer servers put
 * the domain and the account before the stream. `undefined` if it is not a delivery, such as for a heartbeat.
 */
export function parseDelivery(reply = ''): Delivery | undefined {
  const tokens = reply.split('.')
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined
  const at = tokens.length > 9 ? 4 : 2
  return {
    stream: tokens[at] ?? '',
    deliveries: Number(tokens[at + 2]),
    seq: Number(tokens[at + 3]),
    number: Number(tokens[at + 4]),
    storedMs: Math.floor(Number(tokens[at + 5]) / 1_000_000),
    waiting: Number(tokens[at + 6]),
  }
}

/** `undefined` if the message is not a delivery of a consumer. */
export function streamMessage(msg: Msg, acks: Pick<Acknowledgements, 'send'>): StreamMessage | undefined {
  const delivery = parseDelivery(msg.reply)
  return delivery && new DeliveredMessage(msg, delivery, acks)
}

/**
 * A class, because an object literal would have a separate function for each method: a third of a message's
 * memory.
 */
class DeliveredMessage implements StreamMessage {
  readonly subject: string
  readonly stream: string
  readonly seq: number
  readonly deliveries: number
  readonly storedMs: number
  readonly waiting: number
  readonly bytes: number
  readonly #msg: Msg
  readonly #acks: Pick<Acknowledgements, 'send'>
  #done = false

  constructor(
    msg: Msg,
    { stream, seq, deliveries, storedMs, waiting }: Delivery,
    acks: Pick<Acknowledgements, 'send'>,
  ) {
    this.subject = msg.subject
    this.stream = stream
    this.seq = seq
    this.deliveries = deliveries
    this.storedMs = storedMs
    this.waiting = waiting
    this.bytes = msg.data.byteLength + overheadBytes
    this.#msg = msg
    this.#acks = acks
  }

  header(name: string): string | undefined {
    return this.#msg.headers?.get(name) || undefined
  }

  string(): string {
    return this.#msg.string()
  }

  json(): unknown {
    return parseExact(this.#msg.string())
  }

  ack(): void {
    this.#respond('+ACK')
  }

  nak(delayMs: number): void {
    this.#respond(`-NAK {"delay":${Math.max(1, Math.round(delayMs)) * 1_000_000}}`)
  }

  term(): void {
    this.#respond('+TERM')
  }

  working(): void {
    this.#respond('+WPI', false)
  }

  disown(): void {
    this.#done = true
  }

  #respond(text: string, final = true): void {
    if (this.#done) return
    this.#done = final
    this.#acks.send(() => {
      try {
        this.#msg.respond(text)
      } catch {
        // The connection is closed, so the server redelivers the message on the next one.
      }
    }, final)
  }
}

/** Size of headers, subject and the surrounding objects. */
const overheadBytes = 1_024
