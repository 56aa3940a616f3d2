import type { MsgHdrs } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'
import { subjectMatches } from '@opsplane/nats'
import type { StoredMessage } from './consumer-model.js'
import { ApiFault, StreamModel } from './stream-model.js'
import type { World } from './world.js'

/** A message on the wire, in either direction. */
export interface WireMessage {
  subject: string
  reply?: string | undefined
  headers?: MsgHdrs | undefined
  body: string
}

/** The server's side of a connection. */
export interface Peer {
  wants(subject: string): boolean
  receive(message: WireMessage, to: string): void
  disconnect(): void
}

/** Probability that the server loses a message or its response. */
const lossRate = 0.004

/** JetStream and core NATS as far as the platform uses them: the client's protocol with in-memory streams. */
export class NatsServer {
  readonly streams = new Map<string, StreamModel>()
  readonly #world: World
  readonly #peers = new Set<Peer>()
  /** Called for each acknowledgement of a message, before it takes effect. */
  onAcknowledged: (consumer: string, stream: StreamModel, seq: number) => void = () => {}
  /** Called for each message that a stream has stored. */
  onStored: (message: StoredMessage, stream: StreamModel) => void = () => {}
  #awayUntil = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Closes all connections to the server. */
  goAway(ms: number): void {
    this.#world.note(`NATS is away for ${ms.toFixed(0)} ms`)
    this.#awayUntil = Math.max(this.#awayUntil, this.#world.now + ms)
    for (const peer of [...this.#peers]) peer.disconnect()
  }

  get isAway(): boolean {
    return this.#awayUntil > this.#world.now
  }

  join(peer: Peer): void {
    this.#peers.add(peer)
  }

  leave(peer: Peer): void {
    this.#peers.delete(peer)
    for (const stream of this.streams.values())
      for (const consumer of stream.consumers.values()) consumer.forgetRequests((inbox) => peer.wants(inbox))
  }

  /** Handles a message that has arrived. */
  accept(message: WireMessage): void {
    const { subject } = message
    if (subject.startsWith('$JS.ACK.')) this.#acknowledge(message)
    else if (subject.startsWith('$JS.API.')) this.#ask(message)
    else this.#pass(message)
  }

  #pass(message: WireMessage): void {
    const { subject } = message
    const isAnswer = subject.startsWith('_INBOX.')
    const stream = isAnswer ? undefined : [...this.streams.values()].find((each) => each.takes(subject))
    if (stream) this.#store(stream, message)
    else if (!this.#send(message) && message.reply !== undefined)
      this.#send({ subject: message.reply, headers: headers(503, 'No Responders'), body: '' })
  }

  #loses(description: string): boolean {
    const isLost = this.#world.isHostile && this.#world.chance(lossRate)
    if (isLost) this.#world.note(`${description} is lost`)
    return isLost
  }

  #store(stream: StreamModel, { subject, body, headers: carried, reply }: WireMessage): void {
    if (this.#loses(`the publish to ${subject}`)) return
    const { seq, duplicate } = stream.store(subject, body, carried)
    if (!duplicate) this.onStored(stream.get(seq), stream)
    if (reply === undefined || this.#loses(`the acknowledgement of ${seq}`)) return
    const answer = { stream: stream.config.name, seq, ...(duplicate && { duplicate: true }) }
    this.#send({ subject: reply, body: JSON.stringify(answer) })
  }

  /** A cluster may lose an acknowledgement: the message is then redelivered. */
  #acknowledge({ subject, body }: WireMessage): void {
    const [, , name = '', durable = '', , seq] = subject.split('.')
    const stream = this.streams.get(name)
    const consumer = stream?.consumers.get(durable)
    if (!stream || !consumer) return
    if (this.#loses(subject)) return
    if (body.startsWith('+ACK') || body.startsWith('+TERM')) this.onAcknowledged(durable, stream, Number(seq))
    consumer.answer(Number(seq), body)
  }

  #ask({ subject, reply = '', body }: WireMessage): void {
    const [, , kind = '', action = '', ...rest] = subject.split('.')
    if (kind === 'CONSUMER' && action === 'MSG') {
      this.#pull(rest[1], rest[2], reply, body)
      return
    }
    let answer: object
    try {
      answer = kind === 'STREAM' ? this.#ofStream(action, rest, body) : this.#ofConsumer(action, rest, body)
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error
      answer = { error: { code: error.code, err_code: error.errCode, description: error.message } }
    }
    if (!this.#loses(`the answer to ${subject}`)) this.#send({ subject: reply, body: JSON.stringify(answer) })
  }

  #pull(name = '', durable = '', reply: string, body: string): void {
    const consumer = this.streams.get(name)?.consumers.get(durable)
    if (consumer) consumer.request(reply, body)
    else this.#send({ subject: reply, headers: headers(503, 'No Responders'), body: '' })
  }

  #stream(name = ''): StreamModel {
    const stream = this.streams.get(name)
    if (!stream) throw new ApiFault(404, 10_059, 'stream not found')
    return stream
  }

  #ofStream(action: string, [first = '', second = '']: string[], body: string): object {
    if (action === 'CREATE') return this.#create(JSON.parse(body) as { name: string })
    if (action === 'MSG') {
      const stream = this.#stream(second)
      const { seq } = JSON.parse(body) as { seq: number }
      return first === 'DELETE' ? this.#deleteMessage(stream, seq) : messageAnswer(stream, seq)
    }
    const stream = this.#stream(first)
    if (action === 'UPDATE') stream.config = { ...stream.config, ...(JSON.parse(body) as object) }
    return stream.info()
  }

  #create(config: { name: string }): object {
    if (this.streams.has(config.name)) throw new ApiFault(400, 10_058, 'stream name already in use')
    const stream = new StreamModel(this.#world, config)
    this.streams.set(config.name, stream)
    this.#world.note(`the stream ${config.name} is made`)
    return stream.info()
  }

  #deleteMessage(stream: StreamModel, seq: number): object {
    stream.delete(seq)
    return { success: true }
  }

  #ofConsumer(action: string, rest: string[], body: string): object {
    const [first = '', second = '', third = ''] = rest
    if (action === 'DURABLE') return this.#addConsumer(second, third, body)
    if (action === 'CREATE') return this.#addConsumer(first, second, body)
    const consumer = this.#stream(first).consumers.get(second)
    if (!consumer) throw new ApiFault(404, 10_014, 'consumer not found')
    if (action !== 'DELETE') return consumer.info()
    this.#stream(first).consumers.delete(second)
    return { success: true }
  }

  #addConsumer(name: string, durable: string, body: string): object {
    const { config } = JSON.parse(body) as { config: Record<string, unknown> }
    return this.#stream(name)
      .addConsumer(durable, config, ({ inbox, message, reply, status }) => {
        if (status)
          return void this.#send({
            subject: inbox,
            headers: headers(status.code, status.description),
            body: '',
          })
        if (message) this.#send({ ...message, reply }, inbox)
      })
      .info()
  }

  /** Sends the message to all subscribers; returns whether there is any. */
  #send(message: WireMessage, to = message.subject): boolean {
    let hasReceiver = false
    for (const peer of this.#peers)
      if (peer.wants(to)) {
        hasReceiver = true
        peer.receive(message, to)
      }
    return hasReceiver
  }
}

function messageAnswer(stream: StreamModel, seq: number): object {
  const { subject, headers: carried, body, storedMs } = stream.get(seq)
  const lines = (carried?.keys() ?? []).map((key) => `${key}: ${carried?.get(key)}\r\n`)
  const time = new Date(storedMs).toISOString()
  const hdrs = Buffer.from(`NATS/1.0\r\n${lines.join('')}\r\n`).toString('base64')
  return { message: { subject, seq, hdrs, data: Buffer.from(body).toString('base64'), time } }
}

/** Whether a subscription with the subject `filter` receives messages sent to `subject`. */
export function isSubscribed(filter: string, subject: string): boolean {
  const wildcard = filter.search(/[*>]/)
  if (wildcard === -1) return filter === subject
  return subject.startsWith(filter.slice(0, wildcard)) && subjectMatches(filter, subject)
}
