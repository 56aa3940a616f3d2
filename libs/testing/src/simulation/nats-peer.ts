import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { TimeoutError } from '@nats-io/transport-node'
import { type NatsLink, NatsLinkClosedError } from '@opsplane/nats'
import { isSubscribed, type NatsServer, type Peer, type WireMessage } from './nats-server.js'
import type { Process } from './process.js'

type Callback = (error: Error | null, message: Msg) => void
type Status = { type: 'disconnect' | 'reconnect' }

/** The part of a client's message that the platform uses. */
class ReceivedMessage {
  readonly subject: string
  readonly reply: string | undefined
  readonly headers: MsgHdrs | undefined
  readonly respond: (text: string) => void
  readonly #body: string

  constructor({ subject, reply, headers, body }: WireMessage, respond: (text: string) => void) {
    this.subject = subject
    this.reply = reply
    this.headers = headers
    this.#body = body
    this.respond = respond
  }

  get data(): Uint8Array {
    return Buffer.from(this.#body)
  }

  string(): string {
    return this.#body
  }

  json(): unknown {
    return JSON.parse(this.#body)
  }
}

/**
 * The connection of a process: messages arrive in order and with a delay, and those in flight are lost with the
 * connection. Implements the part of the client that the platform uses.
 */
export class NatsPeer implements Peer {
  readonly link: NatsLink
  readonly #process: Process
  readonly #server: NatsServer
  readonly #subscriptions = new Map<number, { subject: string; callback: Callback }>()
  readonly #listeners = new Set<() => void>()
  readonly #statuses = new Set<(status: Status) => void>()
  readonly #connection: NatsConnection
  /** Called for each message when it is sent. */
  onSend: (message: WireMessage) => void = () => {}
  #isUp = false
  /** Number of the connection: messages in flight on an earlier one are lost. */
  #generation = 0
  #serial = 0
  #sentAt = 0
  #receivedAt = 0

  constructor(process: Process, server: NatsServer) {
    this.#process = process
    this.#server = server
    this.#connection = this.#asConnection()
    this.link = {
      identity: undefined,
      ready: (signal) =>
        signal?.aborted ? Promise.reject(new NatsLinkClosedError()) : Promise.resolve(this.#connection),
      connected: () => this.#isUp,
      failure: () => undefined,
      onChange: (listener) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      close: async () => this.disconnect(),
    }
    this.#dial()
  }

  disconnect(): void {
    if (!this.#isUp) return
    this.#isUp = false
    this.#generation++
    this.#server.leave(this)
    this.#report({ type: 'disconnect' })
    this.#dial()
  }

  /** Drops the connection of a killed process: nothing in flight is completed. */
  drop(): void {
    this.#generation++
    this.#server.leave(this)
  }

  #dial(): void {
    this.#process.after(this.#process.world.between(1, 300), () => {
      if (this.#server.isAway) return this.#dial()
      this.#isUp = true
      this.#server.join(this)
      this.#report({ type: 'reconnect' })
    })
  }

  #report(status: Status): void {
    for (const listener of [...this.#listeners]) listener()
    for (const push of this.#statuses) push(status)
  }

  wants(subject: string): boolean {
    for (const each of this.#subscriptions.values()) if (isSubscribed(each.subject, subject)) return true
    return false
  }

  receive(message: WireMessage, to: string): void {
    const { world } = this.#process
    const generation = this.#generation
    this.#receivedAt = Math.max(this.#receivedAt, world.now + world.between(0.05, 2))
    this.#process.after(this.#receivedAt - world.now, () => {
      if (generation !== this.#generation) return
      for (const { subject, callback } of [...this.#subscriptions.values()])
        if (isSubscribed(subject, to)) callback(null, this.#asMessage(message))
    })
  }

  #send(message: WireMessage): void {
    if (!this.#process.isAlive) return
    this.onSend(message)
    // The client does not resend messages published while it was disconnected.
    if (!this.#isUp) return
    const { world } = this.#process
    const generation = this.#generation
    this.#sentAt = Math.max(this.#sentAt, world.now + world.between(0.05, 2))
    world.after(this.#sentAt - world.now, () => {
      if (generation === this.#generation && !this.#server.isAway) this.#server.accept(message)
    })
  }

  #subscribe(subject: string, callback: Callback) {
    const id = ++this.#serial
    this.#subscriptions.set(id, { subject, callback })
    return {
      unsubscribe: () => this.#subscriptions.delete(id),
      drain: async () => void this.#subscriptions.delete(id),
      isClosed: () => !this.#subscriptions.has(id),
    }
  }

  #request(subject: string, payload: Uint8Array | undefined, timeoutMs: number): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const reply = `_INBOX.${this.#process.name}.request.${++this.#serial}`
      const { timers } = this.#process
      const subscription = this.#subscribe(reply, (_, message) => {
        timers.clearTimeout(timer)
        subscription.unsubscribe()
        resolve(message)
      })
      const timer = timers.setTimeout(() => {
        subscription.unsubscribe()
        reject(new TimeoutError())
      }, timeoutMs)
      this.#send({ subject, reply, body: Buffer.from(payload ?? []).toString() })
    })
  }

  #asMessage(message: WireMessage): Msg {
    const received = new ReceivedMessage(message, (text) =>
      this.#send({ subject: message.reply ?? '', body: text }),
    )
    return received as unknown as Msg
  }

  async *#status(): AsyncGenerator<Status> {
    let wake: (status: Status) => void = () => {}
    this.#statuses.add((status) => wake(status))
    for (;;)
      yield await new Promise<Status>((resolve) => {
        wake = resolve
      })
  }

  #asConnection(): NatsConnection {
    const connection = {
      info: { max_payload: 1_048_576, version: '2.15.1' },
      options: { inboxPrefix: '_INBOX' },
      features: { get: () => ({ ok: true, min: '2.10.0' }) },
      publish: (
        subject: string,
        payload: unknown = '',
        options: { reply?: string; headers?: MsgHdrs } = {},
      ) => this.#send({ subject, ...options, body: String(payload) }),
      subscribe: (subject: string, { callback }: { callback: Callback }) =>
        this.#subscribe(subject, callback),
      request: (subject: string, payload: Uint8Array | undefined, { timeout }: { timeout: number }) =>
        this.#request(subject, payload, timeout),
      status: () => this.#status(),
      closed: () => new Promise<void>(() => {}),
      isClosed: () => false,
      reconnect: async () => this.disconnect(),
    }
    return connection as unknown as NatsConnection
  }
}
