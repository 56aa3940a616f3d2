import { headers } from '@nats-io/transport-node'
import { eventHeaders, natsNames, type PlatformEvent } from '@opsplane/contracts'
import { createLogger, delay } from '@opsplane/runtime'
import {
  DatabaseServer,
  epochMs,
  NatsPeer,
  NatsServer,
  Process,
  Replicas,
  type StoredMessage,
  World,
} from '@opsplane/testing'
import { formatEnvelope } from '../../logged-events.js'
import { loggedEvent } from '../../relay/simulation/log-in-memory.fixture.js'
import type { EventConsumer } from '../consume.js'
import { runConsumer } from '../consume.js'
import type { ConsumerTables } from '../consumer-tables.js'
import type { LogSource } from '../log-pages.js'
import { redriveSubject } from '../redrive.js'
import type { Transaction } from '../transaction.js'
import { ConsumerRows, consumerTablesInMemory, Effects, write } from './tables-in-memory.fixture.js'

/** The behaviour an injected fault may replace. */
export interface InjectedFault {
  tables?: (tables: ConsumerTables, world: World) => ConsumerTables
  /** Messages are acknowledged on arrival. */
  acksOnArrival?: true
  /** The effect of an event is not keyed by its id. */
  isUnkeyed?: true
  /** The low watermark in messages is too high by this amount. */
  floorAbove?: number
}

interface Replica {
  process: Process
  peer: NatsPeer
  consumer: EventConsumer
}

/** How the handler treats an event until it is repaired. */
type Kind = 'good' | 'flaky' | 'bad' | 'slow'

const names = natsNames()
const log = createLogger({ service: 'simulation', level: 'silent' })
const durable = 'desk-ticket-projection'
const source = 'desk'
const hostileMs = 40_000
const settledWithinMs = 1_800_000
const aggregates = ['a', 'b', 'c', 'd']
const pageSize = 5

/** One run of two replicas of a consumer under all simulated failures, until everything is handled. */
export class ConsumerRun {
  readonly world: World
  readonly #planted: InjectedFault
  readonly #database: DatabaseServer
  readonly #nats: NatsServer
  readonly #rows = new ConsumerRows()
  readonly #effects = new Effects()
  readonly #log: PlatformEvent[] = []
  readonly #kinds = new Map<string, Kind>()
  readonly #attempts = new Map<string, number>()
  readonly #replicas: Replicas<Replica>
  #isMended = false

  constructor(seed: number, planted: InjectedFault = {}) {
    this.#planted = planted
    this.world = new World(seed)
    this.#database = new DatabaseServer(this.world)
    this.#nats = new NatsServer(this.world)
    this.#nats.onAcknowledged = (_, stream, seq) => {
      const message = stream.messages.get(seq)
      if (message) this.#acknowledged(message)
    }
    this.#makeStream()
    this.#replicas = new Replicas(
      this.world,
      ['one', 'two'],
      (name) => this.#start(name),
      ({ peer }) => {
        peer.drop()
        this.#rows.locked.clear()
      },
    )
  }

  async run(): Promise<void> {
    const { world } = this
    for (let at = 0; at < 30; at++) world.after(world.between(0, hostileMs), () => this.#publish())
    const faults = world.integer(1, 6)
    for (let at = 0; at < faults; at++) world.after(world.between(200, hostileMs), () => this.#befall())
    await world.run(hostileMs)
    world.isHostile = false
    world.note('all is left to settle')
    await this.#settle('waiting')
    this.#isMended = true
    for (const letter of this.#rows.letters.values())
      letter.redrivenAt = new Date(epochMs + world.now).toISOString()
    this.#nats.accept({ subject: redriveSubject(names, durable), body: '' })
    await this.#settle('redriving')
    this.#checkEffects()
    await world.run(world.now)
  }

  async #settle(what: string): Promise<void> {
    const { world } = this
    await world.run(world.now + settledWithinMs, () => this.#isSettled())
    if (this.#isSettled()) return
    const lost = this.#log.filter(({ id }) => !this.#isKept(id)).map(({ id }) => id)
    world.broken(`not settled, still ${what}: ${lost.join()} without effect`)
    await world.run(world.now)
  }

  #makeStream(): void {
    const config = { name: names.eventsStream, subjects: [names.eventSubjects], duplicate_window: 600e9 }
    this.#nats.accept({
      subject: `$JS.API.STREAM.CREATE.${names.eventsStream}`,
      body: JSON.stringify(config),
    })
    if (!this.#nats.streams.has(names.eventsStream)) throw new Error('there is no stream')
  }

  get #stream() {
    const stream = this.#nats.streams.get(names.eventsStream)
    if (!stream) throw new Error('there is no stream')
    return stream
  }

  #start(name: string): Replica {
    const process = new Process(this.world, name)
    const peer = this.#planted.acksOnArrival
      ? new HastyPeer(process, this.#nats)
      : new NatsPeer(process, this.#nats)
    const { tables: change = (tables) => tables } = this.#planted
    const commit = <T>(act: () => T) => this.#database.commit(process, act)
    const inMemory = consumerTablesInMemory(this.#rows, durable, commit, () => epochMs + this.world.now)
    const consumer = runConsumer(
      {
        ...{ link: peer.link, names, durable, log, maxBatch: 4, batchesInFlight: 2, maxAckPending: 20 },
        maxDeliveries: 3,
        retry: { baseMs: 500, maxMs: 5_000 },
        ackWaitMs: 6_000,
        history: { of: 'all', logs: [this.#source(process)] },
        handle: (events, tx) => this.#handle(process, events, tx),
      },
      this.#checked(change(inMemory, this.world)),
      process.timers,
    )
    return { process, peer, consumer }
  }

  /** Checks that everything up to a recorded low watermark is handled. */
  #checked(tables: ConsumerTables): ConsumerTables {
    return {
      ...tables,
      arrive: (place, lowWatermarks, checkpoint) => {
        const floor = lowWatermarks.get(source) ?? 0
        const missing = this.#log.slice(0, floor).find(({ id }) => !this.#isKept(id))
        if (missing)
          this.world.broken(`the low watermark ${floor} covers ${missing.id}, which is not handled`)
        return tables.arrive(place, lowWatermarks, checkpoint)
      },
    }
  }

  #isKept(id: string): boolean {
    if (this.#effects.handled.has(id)) return true
    return [...this.#rows.letters.values()].some(({ messageId }) => messageId.split('.')[0] === id)
  }

  #acknowledged({ body, seq }: StoredMessage): void {
    const { id } = JSON.parse(body) as { id: string }
    this.world.note(`${id} at ${seq} is acknowledged`)
    if (!this.#isKept(id)) this.world.broken(`${id} at ${seq} is acknowledged before its effect is committed`)
  }

  async #handle(process: Process, events: PlatformEvent[], tx: Transaction): Promise<void> {
    for (const event of events) {
      await this.#database.commit(process, () => {})
      this.#refuse(event.id)
      if (this.#kinds.get(event.id) === 'slow') await delay(9_000, undefined, process.timers)
      write(tx, () => {
        this.world.note(`${process.name} has handled ${event.id}`)
        this.#effects.apply(event, !this.#planted.isUnkeyed)
      })
    }
  }

  #refuse(id: string): void {
    const attempts = (this.#attempts.get(id) ?? 0) + 1
    this.#attempts.set(id, attempts)
    const kind = this.#kinds.get(id)
    if (this.#isMended || kind === 'good' || kind === 'slow') return
    if (kind === 'bad' || attempts < 3) throw new Error(`${id} cannot be handled`)
  }

  #source(process: Process): LogSource {
    return {
      source,
      page: ({ after }) =>
        this.#database.commit(process, () => {
          const found = this.#log.slice(after, after + pageSize)
          const events = found.map((event, at) => ({ position: after + at + 1, event }))
          return { events, next: found.length < pageSize ? null : after + pageSize }
        }),
      end: async () => this.#log.length,
    }
  }

  #publish(): void {
    const { world } = this
    const streamId = world.pick(aggregates)
    const position = this.#log.length + 1
    const version = this.#log.filter(({ resource }) => resource.id === streamId).length + 1
    const id = `evt_01JGGJ0000${String(position).padStart(16, '0')}`
    const logged = loggedEvent(id, {
      position,
      streamId,
      version,
      workspaceId: streamId < 'c' ? 'ws_1' : 'ws_2',
    })
    const createdAt = new Date(epochMs + world.now).toISOString()
    const text = formatEnvelope({ ...logged, createdAt })
    this.#log.push(JSON.parse(text) as PlatformEvent)
    this.#kinds.set(id, world.chance(0.75) ? 'good' : world.pick<Kind>(['flaky', 'bad', 'slow']))
    world.note(`${id} is published: ${streamId} ${version}, ${this.#kinds.get(id)}`)
    this.#store(position, id)
    if (world.chance(0.1)) this.#store(position, `${id}.1`)
  }

  #store(position: number, messageId: string): void {
    const event = this.#log[position - 1]
    if (!event) throw new Error(`there is no event at ${position}`)
    const carried = headers()
    carried.set(eventHeaders.messageId, messageId)
    carried.set(eventHeaders.source, source)
    carried.set(eventHeaders.position, String(position))
    carried.set(eventHeaders.lowWatermark, String(position - 1 + (this.#planted.floorAbove ?? 0)))
    this.#stream.store(names.eventSubject(event), JSON.stringify(event), carried)
  }

  #befall(): void {
    const { world } = this
    const replica = this.#replicas.pick()
    const faults = [
      () => this.#replicas.restart(replica, world.between(1, 9_000)),
      () => this.#replicas.restart(replica, world.between(1, 9_000)),
      () => replica.process.stall(world.between(50, 20_000)),
      () => this.#nats.goAway(world.between(100, 8_000)),
      () => this.#database.goAway(world.between(100, 15_000)),
      () => replica.peer.disconnect(),
      () => this.#deleteConsumer(),
      () => this.#dropOldest(world.integer(1, 30)),
      () => this.#loseStream(),
    ]
    world.pick(faults)()
  }

  #deleteConsumer(): void {
    this.world.note('the consumer is gone')
    this.#stream.consumers.delete(durable)
  }

  #dropOldest(count: number): void {
    this.world.note(`the stream drops its oldest ${count} messages`)
    this.#stream.dropFirst(count)
  }

  /** The relay refills the stream that replaces it. */
  #loseStream(): void {
    this.world.note('the stream is gone')
    this.#nats.goAway(this.world.between(10, 1_000))
    this.#nats.streams.delete(names.eventsStream)
    this.#makeStream()
    for (const [at, { id }] of this.#log.entries()) this.#store(at + 1, id)
  }

  #isSettled(): boolean {
    const consumer = this.#stream.consumers.get(durable)
    if (!consumer || consumer.waiting + consumer.pending.size > 0) return false
    if (!this.#replicas.areAlive) return false
    if (!this.#log.every(({ id }) => this.#isKept(id))) return false
    if (this.#isMended) return ![...this.#rows.letters.values()].some(({ redrivenAt }) => redrivenAt !== null)
    return this.world.now > hostileMs + 30_000
  }

  #checkEffects(): void {
    for (const { id, resource, version } of this.#log) {
      const times = this.#effects.handled.get(id) ?? 0
      if (times !== 1) this.world.broken(`the effect of ${id} is there ${times} times`)
      if ((this.#effects.versions.get(resource.id) ?? 0) < version)
        this.world.broken(`${resource.id} is older than ${id}`)
    }
    const [letter] = this.#rows.letters.values()
    if (letter) this.world.broken(`${letter.messageId} is still a dead letter: ${letter.error}`)
  }
}

class HastyPeer extends NatsPeer {
  readonly #server: NatsServer

  constructor(process: Process, server: NatsServer) {
    super(process, server)
    this.#server = server
  }

  override receive(...[message, to]: Parameters<NatsPeer['receive']>): void {
    super.receive(message, to)
    const { reply = '' } = message
    if (reply.startsWith('$JS.ACK.')) this.#server.accept({ subject: reply, body: '+ACK' })
  }
}
