import { type MsgHdrs, nanos } from '@nats-io/transport-node'
import { subjectMatches } from '@opsplane/nats'
import { ConsumerModel, type Delivery, type StoredMessage } from './consumer-model.js'
import { epochMs } from './process.js'
import type { World } from './world.js'

/** Errors of the JetStream API, by its error codes. */
export class ApiFault extends Error {
  constructor(
    readonly code: number,
    readonly errCode: number,
    description: string,
  ) {
    super(description)
  }
}

const messageIdHeader = 'Nats-Msg-Id'

/** One stream: numbered messages, deduplicated by their ids within the duplicate window, and its consumers. */
export class StreamModel {
  readonly created: string
  readonly messages = new Map<number, StoredMessage>()
  readonly consumers = new Map<string, ConsumerModel>()
  config: Record<string, unknown>
  first = 1
  last = 0
  readonly #ids = new Map<string, { seq: number; at: number }>()
  readonly #world: World
  readonly #windowMs: number

  constructor(world: World, config: Record<string, unknown>) {
    this.#world = world
    this.config = { max_age: 0, max_msgs: -1, max_bytes: -1, max_msgs_per_subject: -1, ...config }
    this.#windowMs = Number(config.duplicate_window ?? nanos(120_000)) / 1e6
    // Two streams created within one millisecond still differ.
    this.created = new Date(epochMs + world.now)
      .toISOString()
      .replace('Z', `${String(world.integer(100_000, 999_999))}Z`)
  }

  takes(subject: string): boolean {
    return (this.config.subjects as string[]).some((filter) => subjectMatches(filter, subject))
  }

  /** Stores a message unless one with its id was stored within the window. */
  store(subject: string, body: string, headers: MsgHdrs | undefined): { seq: number; duplicate: boolean } {
    const { now } = this.#world
    const id = headers?.get(messageIdHeader) ?? ''
    const known = this.#ids.get(id)
    if (id !== '' && known && now - known.at < this.#windowMs) return { seq: known.seq, duplicate: true }
    const seq = ++this.last
    if (id !== '') this.#ids.set(id, { seq, at: now })
    this.messages.set(seq, { seq, subject, headers, body, storedMs: Math.floor(epochMs + now) })
    for (const consumer of this.consumers.values()) consumer.serve()
    return { seq, duplicate: false }
  }

  get(seq: number): StoredMessage {
    const message = this.messages.get(seq)
    if (!message) throw new ApiFault(404, 10_037, 'no message found')
    return message
  }

  delete(seq: number): void {
    this.get(seq)
    this.messages.delete(seq)
    this.#moveFirst()
  }

  /**
   * Simulates a crash of the server's machine: the last messages are lost, and the server
   * only knows the ids of the remaining ones.
   */
  cut(count: number): void {
    const end = Math.max(this.last - count, 0)
    for (let seq = end + 1; seq <= this.last; seq++) this.messages.delete(seq)
    for (const [id, { seq }] of this.#ids) if (!this.messages.has(seq)) this.#ids.delete(id)
    this.last = end
    this.#moveFirst()
  }

  /** Drops the oldest messages, as if they exceeded the stream's limits. */
  dropFirst(count: number): void {
    for (let at = 0; at < count && this.first <= this.last; at++) {
      this.messages.delete(this.first)
      this.#moveFirst()
    }
  }

  /** Removes all messages; the server still knows their ids. */
  purge(): void {
    this.messages.clear()
    this.#moveFirst()
  }

  #moveFirst(): void {
    while (this.first <= this.last && !this.messages.has(this.first)) this.first++
    this.first = Math.min(this.first, this.last + 1)
  }

  addConsumer(
    name: string,
    config: Record<string, unknown>,
    deliver: (delivery: Delivery) => void,
  ): ConsumerModel {
    const existing = this.consumers.get(name)
    if (existing) {
      existing.config = { ...existing.config, ...config }
      return existing
    }
    const consumer = new ConsumerModel(this.#world, this, name, config, deliver)
    this.consumers.set(name, consumer)
    return consumer
  }

  info() {
    const first = this.messages.get(this.first)
    return {
      type: 'io.nats.jetstream.api.v1.stream_info_response',
      config: this.config,
      created: this.created,
      state: {
        messages: this.messages.size,
        bytes: this.messages.size * 100,
        first_seq: this.first,
        first_ts: new Date(first?.storedMs ?? 0).toISOString(),
        last_seq: this.last,
        consumer_count: this.consumers.size,
      },
    }
  }
}
