import type { Msg } from '@nats-io/transport-node'
import { parseExact } from '@opsplane/contracts'
import type { Acknowledgements } from './pull/acknowledgements.js'

/** A message as a consumer got it from a stream. Acknowledgements are hints: one that is lost makes it come again. */
export interface StreamMessage {
  readonly subject: string
  readonly stream: string
  /** The message's sequence in the stream. */
  readonly seq: number
  /** Of what comes from a log instead, whose position is then `seq`: the sequence of the stream that it comes after. */
  readonly after?: number
  /** How often it was delivered, this time included. */
  readonly deliveries: number
  /** When the stream stored it, in milliseconds since 1970. */
  readonly storedMs: number
  /** How many more the consumer has at the server that were not delivered yet. */
  readonly waiting: number
  /** What it takes in memory, about. */
  readonly bytes: number
  header(name: string): string | undefined
  string(): string
  json(): unknown
  /** It is done with. */
  ack(): void
  /** It comes again, after so many milliseconds. */
  nak(delayMs: number): void
  /** It is given up. */
  term(): void
  /** Signals work in progress: the ack wait starts again. */
  working(): void
  /** Its consumer was created again: an acknowledgement would count for another message, of the same sequence there. */
  disown(): void
}

/** What a message is called in the log and as a dead letter: the id of its event, or its place where it has none. */
export const readMessageId = (message: Pick<StreamMessage, 'header' | 'stream' | 'seq'>): string =>
  message.header('Nats-Msg-Id') ?? `${message.stream}/${message.seq}`

/** What the place to acknowledge to says of a delivery. */
interface Delivery {
  stream: string
  deliveries: number
  seq: number
  /** How many deliveries the consumer has made, this one included. */
  number: number
  storedMs: number
  waiting: number
}

/**
 * Reads `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<number>.<nanoseconds>.<waiting>`; newer servers put the domain
 * and the account before the stream. Undefined for what is no delivery, such as a heartbeat.
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

/** Undefined for what is no delivery of a consumer. */
export function streamMessage(msg: Msg, acks: Pick<Acknowledgements, 'send'>): StreamMessage | undefined {
  const delivery = parseDelivery(msg.reply)
  return delivery && new DeliveredMessage(msg, delivery, acks)
}

/** A class, as an object literal would have a function of its own for each method: a third of what a message takes in memory. */
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

/** Headers, subject and the objects around them. */
const overheadBytes = 1_024
