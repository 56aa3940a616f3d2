import { eventHeaders, natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import {
  DatabaseServer,
  NatsPeer,
  NatsServer,
  Process,
  Replicas,
  type StoredMessage,
  World,
} from '@opsplane/testing'
import type { LoggedEvent } from '../../logged-events.js'
import { type Relay, runRelay } from '../relay.js'
import type { RelayStore } from '../relay-store.js'
import { flushedWithinMs, LogInMemory, loggedEvent } from './log-in-memory.fixture.js'
import { relayStoreInMemory } from './relay-store-in-memory.fixture.js'

/** The behaviour an injected fault may replace. */
export interface InjectedFault {
  store?: (store: RelayStore, world: World) => RelayStore
  /** The event as it is offered to the relay, and published from memory. */
  offers?: (event: LoggedEvent) => LoggedEvent
  /** Events are offered before they are committed. */
  offersEarly?: true
  /** A commit has no outbox row. */
  withoutOutbox?: true
  /** The message id by which the stream recognizes a repeated publish. */
  messageId?: (id: string, world: World) => string
  /** The server acknowledges a publish without storing it. */
  losesAcknowledged?: true
}

interface Replica {
  process: Process
  peer: NatsPeer
  relay: Relay
}

const names = natsNames()
const log = createLogger({ service: 'simulation', level: 'silent' })
const schema = 'desk'
const hostileMs = 25_000
const settledWithinMs = 900_000
const streams = ['a', 'b', 'c', 'd', 'e']

/**
 * One run of two replicas of a service that append and relay, under all simulated failures, until everything is
 * published.
 */
export class RelayRun {
  readonly world: World
  readonly #planted: InjectedFault
  readonly #database: DatabaseServer
  readonly #nats: NatsServer
  readonly #tables: LogInMemory
  readonly #replicas: Replicas<Replica>
  /** A stream was lost or truncated: acknowledged events may be missing until it is refilled. */
  #hasLost = false
  #appended = 0
  readonly #ids = new Map<StoredMessage, string>()

  constructor(seed: number, planted: InjectedFault = {}) {
    this.#planted = planted
    this.world = new World(seed)
    this.#database = new DatabaseServer(this.world)
    this.#nats = new NatsServer(this.world)
    this.#tables = new LogInMemory(this.world)
    this.#nats.onStored = (message) => this.#stored(message)
    this.#replicas = new Replicas(
      this.world,
      ['one', 'two'],
      (name) => this.#start(name),
      ({ peer }) => peer.drop(),
    )
  }

  async run(): Promise<void> {
    const { world } = this
    for (let at = 0; at < 40; at++)
      world.after(world.between(0, hostileMs), () => this.#append(world.pick(streams)))
    const faults = world.integer(1, 6)
    for (let at = 0; at < faults; at++) world.after(world.between(200, hostileMs), () => this.#befall())
    await world.run(hostileMs)
    world.isHostile = false
    this.#tables.flush()
    world.note('all is left to settle')
    await world.run(settledWithinMs, () => this.#isSettled())
    if (!this.#isSettled()) world.broken(`not settled: ${this.#tables.outbox.size} events wait in the outbox`)
    this.#checkStream()
    await world.run(world.now)
  }

  #start(name: string): Replica {
    const process = new Process(this.world, name)
    const peer = new NatsPeer(process, this.#nats)
    const { store: change = (store) => store } = this.#planted
    const inMemory = relayStoreInMemory(
      this.#tables,
      (act) => this.#database.commit(process, act),
      () => this.world.now,
    )
    peer.onSend = ({ subject, headers }) => {
      if (!subject.startsWith('evt.')) return
      this.#published(name, headers?.get(eventHeaders.messageId) ?? '')
      const { messageId } = this.#planted
      if (messageId)
        headers?.set(eventHeaders.messageId, messageId(headers.get(eventHeaders.messageId), this.world))
    }
    const relay = runRelay({
      store: change(inMemory, this.world),
      timers: process.timers,
      ...{ link: peer.link, names, schema, instanceId: name, log },
    })
    return { process, peer, relay }
  }

  /** A replica whose lease has expired or belongs to another must not publish an event for the first time. */
  #published(name: string, messageId: string): void {
    const { lease } = this.#tables
    if (messageId.includes('.')) return
    if (lease?.owner !== name || lease.expiresAt <= this.world.now)
      this.world.broken(`${name} publishes ${messageId} without the lease`)
  }

  #stored(message: StoredMessage): void {
    const { subject, headers, seq } = message
    const id = this.#idOf(message)
    this.world.note(`stored ${id} at ${seq} as ${headers?.get(eventHeaders.messageId)}`)
    const position = Number(headers?.get(eventHeaders.position))
    if (this.#tables.events.get(position)?.id !== id)
      this.world.broken(`${id} is published and not committed: ${subject}`)
    if (this.#hasLost) return
    const ids = this.#idsInStream()
    if (ids.filter((each) => each === id).length > 1) this.world.broken(`${id} is in the stream twice`)
    const floor = Number(headers?.get(eventHeaders.lowWatermark))
    const known = new Set(ids)
    for (const [at, event] of this.#tables.events)
      if (at <= floor && !known.has(event.id))
        this.world.broken(`the floor ${floor} covers ${event.id}, which is not in the stream`)
  }

  #idOf(message: StoredMessage): string {
    const known = this.#ids.get(message) ?? (JSON.parse(message.body) as { id: string }).id
    this.#ids.set(message, known)
    return known
  }

  get #messages(): StoredMessage[] {
    const stream = this.#nats.streams.get(names.eventsStream)
    return [...(stream?.messages.values() ?? [])]
  }

  #idsInStream(): string[] {
    return this.#messages.map((message) => this.#idOf(message))
  }

  #append(streamId: string, id = this.#newId()): void {
    const { world } = this
    const { process, relay } = this.#replicas.pick()
    const writer = this.#tables.begin(streamId)
    if (!writer || this.#database.isAway || !process.isAlive) {
      writer?.abort()
      return void world.after(world.between(50, 500), () => this.#append(streamId, id))
    }
    const { position, version } = writer
    const workspaceId = `ws_${streamId < 'c' ? 1 : 2}`
    const event = loggedEvent(id, { position, streamId, version, workspaceId })
    world.note(`${process.name} writes ${id} at ${position}: ${streamId} ${version}`)
    if (this.#planted.offersEarly) relay.offer([{ ...event, streamType: 'tickets', sealed: null }])
    world.after(world.chance(0.1) ? world.between(100, 3_000) : world.between(0.2, 5), () => {
      if (world.chance(0.05)) {
        writer.abort()
        return
      }
      try {
        writer.commit(event)
      } catch {
        return
      }
      world.note(`${id} is committed`)
      if (world.isHostile && world.chance(0.05)) world.after(world.between(0, 20), () => this.#drawInVain())
      if (this.#planted.withoutOutbox && world.chance(0.1)) this.#tables.outbox.delete(position)
      process.after(world.between(0.1, 3), () => this.#announce(relay, event))
    })
  }

  /** Draws a position without using it; it is not on disk yet if Postgres crashes. */
  #drawInVain(): void {
    const { world } = this
    const writer = this.#tables.begin(world.pick(streams))
    world.after(world.between(1, 50), () => writer?.abort())
    if (world.chance(0.3))
      world.after(world.between(250, flushedWithinMs), () => this.#crash(world.between(100, 1_000)))
  }

  /** An id begins with its time, which is before its position is drawn. */
  #newId(): string {
    return `evt_${String(Math.floor(this.world.now)).padStart(6, '0')}_${++this.#appended}`
  }

  #announce(relay: Relay, event: LoggedEvent): void {
    const { offers = (each) => each } = this.#planted
    if (this.world.chance(0.6)) relay.offer([{ ...offers(event), streamType: 'tickets', sealed: null }])
    else if (this.world.chance(0.7)) relay.wake()
  }

  #befall(): void {
    const { world } = this
    const replica = this.#replicas.pick()
    const faults = [
      () => this.#replicas.restart(replica, world.between(1, 4_000)),
      () => this.#replicas.restart(replica, world.between(1, 12_000)),
      () => replica.process.stall(world.between(50, 9_000)),
      () => this.#nats.goAway(world.between(100, 8_000)),
      () => this.#database.goAway(world.between(100, 8_000)),
      () => this.#crash(world.between(100, 2_000)),
      () => replica.peer.disconnect(),
      () => this.#loseStream(),
    ]
    world.pick(faults)()
  }

  #crash(ms: number): void {
    this.world.note('Postgres crashes')
    this.#database.goAway(ms)
    this.#tables.crash()
  }

  #loseStream(): void {
    const { world } = this
    const stream = this.#nats.streams.get(names.eventsStream)
    if (!stream) return
    this.#hasLost = true
    if (world.chance(0.3)) {
      world.note('the stream is purged')
      stream.purge()
      return
    }
    this.#nats.goAway(world.between(10, 1_000))
    if (world.chance(0.5)) {
      world.note('the stream is gone')
      this.#nats.streams.delete(names.eventsStream)
    } else {
      const count = world.integer(1, 8)
      world.note(`the stream has lost its last ${count} messages`)
      stream.cut(count)
    }
  }

  /** Every loss of the stream is found within the interval of inspections. */
  #isSettled(): boolean {
    const { outbox, edge } = this.#tables
    if (outbox.size > 0 || edge.call(this.#tables).writers.length > 0) return false
    if (!this.#replicas.areAlive) return false
    return this.world.now > hostileMs + (this.#hasLost ? 120_000 : 30_000)
  }

  /** Each event is in the stream, after the earlier ones of its aggregate. */
  #checkStream(): void {
    const ids = this.#idsInStream()
    const byStream = new Map<string, LoggedEvent[]>()
    for (const event of this.#tables.events.values())
      byStream.set(event.streamId, [...(byStream.get(event.streamId) ?? []), event])
    for (const events of byStream.values()) {
      let from = 0
      for (const { id, streamId } of events.sort((one, other) => one.version - other.version)) {
        const at = ids.indexOf(id, from)
        if (at < 0) {
          this.world.broken(
            ids.includes(id) ? `${id} of ${streamId} is out of order` : `${id} is not in the stream`,
          )
          return
        }
        from = at + 1
      }
    }
  }
}
