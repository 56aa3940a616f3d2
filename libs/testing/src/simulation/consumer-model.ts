import type { MsgHdrs } from '@nats-io/transport-node'
import { subjectMatches } from '@opsplane/nats'
import type { Entry } from './agenda.js'
import { epochMs } from './process.js'
import type { World } from './world.js'

/** A message as stored in a stream. */
export interface StoredMessage {
  seq: number
  subject: string
  headers: MsgHdrs | undefined
  body: string
  storedMs: number
}

/** The stream that a consumer reads. */
export interface ConsumedStream {
  readonly config: Record<string, unknown>
  readonly last: number
  readonly messages: ReadonlyMap<number, StoredMessage>
}

/** A response of the consumer to the inbox of a request: a message, or a status of the request. */
export interface Delivery {
  inbox: string
  message?: StoredMessage
  reply?: string
  status?: { code: number; description: string }
}

interface Request {
  inbox: string
  left: number
  expiry: Entry
  heartbeat: Entry
  heartbeatMs: number
  ends: boolean
}

interface Pending {
  deliveries: number
  wait: Entry
}

/** A durable pull consumer of a stream, shared by all replicas that use its name. */
export class ConsumerModel {
  config: Record<string, unknown>
  /** All messages up to this sequence are acknowledged or do not match the consumer's filter. */
  ackFloor: number
  /** Sequence of the last message that was delivered for the first time. */
  delivered: number
  readonly pending = new Map<number, Pending>()
  readonly acknowledged = new Set<number>()
  readonly #redeliveries = new Map<number, number>()
  readonly #requests: Request[] = []
  readonly #world: World
  readonly #stream: ConsumedStream
  readonly #deliver: (delivery: Delivery) => void
  readonly name: string
  readonly #created: string
  #serial = 0

  constructor(
    world: World,
    stream: ConsumedStream,
    name: string,
    config: Record<string, unknown>,
    deliver: (delivery: Delivery) => void,
  ) {
    this.#world = world
    this.#stream = stream
    this.#deliver = deliver
    this.name = name
    this.config = config
    this.#created = `${new Date(epochMs + world.now).toISOString()}-${world.integer(0, 999_999)}`
    this.delivered = config.deliver_policy === 'new' ? stream.last : 0
    this.ackFloor = this.delivered
  }

  request(inbox: string, text: string): void {
    const options = JSON.parse(text) as {
      batch: number
      expires: number
      idle_heartbeat: number
      no_wait?: boolean
    }
    const heartbeatMs = options.idle_heartbeat / 1e6
    const request: Request = {
      inbox,
      left: options.batch,
      heartbeatMs,
      ends: options.no_wait === true,
      heartbeat: this.#world.after(heartbeatMs, () => this.#beat(request)),
      expiry: this.#world.after(options.expires / 1e6, () => this.#end(request, 408, 'Request Timeout')),
    }
    this.#requests.push(request)
    this.serve()
  }

  #beat(request: Request): void {
    this.#deliver({ inbox: request.inbox, status: { code: 100, description: 'Idle Heartbeat' } })
    request.heartbeat = this.#world.after(request.heartbeatMs, () => this.#beat(request))
  }

  #end(request: Request, code: number, description: string): void {
    this.#remove(request)
    this.#deliver({ inbox: request.inbox, status: { code, description } })
  }

  #remove(request: Request): void {
    request.heartbeat.act = undefined
    request.expiry.act = undefined
    const at = this.#requests.indexOf(request)
    if (at >= 0) this.#requests.splice(at, 1)
  }

  /** Drops the requests of a replica that no longer exists. */
  forgetRequests(of: (inbox: string) => boolean): void {
    for (const request of [...this.#requests]) if (of(request.inbox)) this.#remove(request)
  }

  /** Delivers available messages to waiting requests, oldest request first. */
  serve(): void {
    for (let [request] = this.#requests; request; [request] = this.#requests) {
      const delivery = this.#next()
      if (!delivery) return
      const { message, deliveries } = delivery
      const ackWaitMs = Number(this.config.ack_wait) / 1e6
      this.#wait(message.seq, deliveries, ackWaitMs)
      const stamp = `${String(message.storedMs)}000000`
      const waiting = Math.max(0, this.#stream.last - this.delivered)
      const reply = `$JS.ACK.${String(this.#stream.config.name)}.${this.name}.${deliveries}.${message.seq}.${++this.#serial}.${stamp}.${waiting}`
      request.left--
      this.#deliver({ inbox: request.inbox, message, reply })
      if (request.left > 0) continue
      this.#remove(request)
    }
  }

  #wait(seq: number, deliveries: number, ms: number): void {
    const before = this.pending.get(seq)
    if (before) before.wait.act = undefined
    const wait = this.#world.after(ms, () => {
      this.#redeliveries.set(seq, deliveries)
      this.serve()
    })
    this.pending.set(seq, { deliveries, wait })
  }

  #next(): { message: StoredMessage; deliveries: number } | undefined {
    for (const [seq, deliveries] of this.#redeliveries) {
      this.#redeliveries.delete(seq)
      const message = this.#stream.messages.get(seq)
      if (message && this.pending.has(seq)) return { message, deliveries: deliveries + 1 }
      this.#settle(seq)
    }
    if (this.pending.size >= Number(this.config.max_ack_pending)) return undefined
    while (this.delivered < this.#stream.last) {
      const message = this.#stream.messages.get(++this.delivered)
      if (message && this.#wants(message.subject)) return { message, deliveries: 1 }
      this.#moveFloor()
    }
    return undefined
  }

  #wants(subject: string): boolean {
    const one = this.config.filter_subject as string | undefined
    const filters = (this.config.filter_subjects as string[] | undefined) ?? (one === undefined ? [] : [one])
    return filters.length === 0 || filters.some((filter) => subjectMatches(filter, subject))
  }

  /** Handles an acknowledgement: `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>…` and its body. */
  answer(seq: number, text: string): void {
    const pending = this.pending.get(seq)
    if (!pending) return
    if (text.startsWith('+ACK') || text.startsWith('+TERM')) this.#settle(seq)
    else if (text.startsWith('+WPI')) this.#wait(seq, pending.deliveries, Number(this.config.ack_wait) / 1e6)
    else if (text.startsWith('-NAK')) {
      const { delay } = JSON.parse(text.slice(4).trim() || '{}') as { delay?: number }
      this.#redeliveries.delete(seq)
      this.#wait(seq, pending.deliveries, (delay ?? 0) / 1e6)
    }
    this.serve()
  }

  #settle(seq: number): void {
    const pending = this.pending.get(seq)
    if (pending) pending.wait.act = undefined
    this.pending.delete(seq)
    this.#redeliveries.delete(seq)
    this.acknowledged.add(seq)
    this.#moveFloor()
  }

  /** No message at or below the floor is pending, as in nats-server. */
  #moveFloor(): void {
    const least = Math.min(...this.pending.keys(), this.delivered + 1)
    this.ackFloor = Math.max(this.ackFloor, least - 1)
  }

  get waiting(): number {
    let count = 0
    for (let seq = this.delivered + 1; seq <= this.#stream.last; seq++) {
      const message = this.#stream.messages.get(seq)
      if (message && this.#wants(message.subject)) count++
    }
    return count
  }

  info() {
    return {
      type: 'io.nats.jetstream.api.v1.consumer_info_response',
      stream_name: this.#stream.config.name,
      name: this.name,
      created: this.#created,
      config: this.config,
      delivered: { consumer_seq: this.#serial, stream_seq: this.delivered },
      ack_floor: { consumer_seq: 0, stream_seq: this.ackFloor },
      num_ack_pending: this.pending.size,
      num_redelivered: 0,
      num_waiting: this.#requests.length,
      num_pending: this.waiting,
    }
  }
}
