import { minId, type PlatformEvent } from '@opsplane/contracts'
import type { UnreadEvent } from '@opsplane/eventstore'
import { epochMs, type Process, type World } from '@opsplane/testing'
import type { Dispatch } from '../dispatch.js'
import { tenant } from './webhooks.fixture.js'

export interface DispatcherReplica {
  process: Process
  dispatch: Dispatch
}

/** An event in the stream. */
export interface Published {
  event: PlatformEvent
  sequence: string
  isFannedOut: boolean
}

const ackWaitMs = 6_000
const queues = ['a', 'b', 'c']

const sequenceAt = (place: number) => String(place).padStart(6, '0')

/** Simulates the consumer: each event is delivered at least once, in any order, to any replica. */
export class EventFeed {
  readonly published: Published[] = []
  readonly #world: World
  readonly #pick: () => DispatcherReplica
  readonly #acksOnArrival: boolean

  constructor(world: World, pick: () => DispatcherReplica, acksOnArrival = false) {
    this.#world = world
    this.#pick = pick
    this.#acksOnArrival = acksOnArrival
  }

  isDone(): boolean {
    return this.published.every(({ isFannedOut }) => isFannedOut)
  }

  /** The low watermark, requested from a server that may not respond. */
  lowWatermark(process: Process): Promise<string> {
    const world = this.#world
    return new Promise((resolve, reject) => {
      process.after(world.between(0.2, 10), () => {
        if (world.isHostile && world.chance(0.05)) return reject(new Error('NATS does not answer'))
        const first = this.published.findIndex(({ isFannedOut }) => !isFannedOut)
        resolve(sequenceAt(first === -1 ? this.published.length : first))
      })
    })
  }

  publish(): void {
    const world = this.#world
    const place = this.published.length + 1
    const queue = world.pick(queues)
    const id = `${minId('event', epochMs + world.now)}${String(place).padStart(16, '0')}`
    const published = {
      event: eventOf(id, queue, epochMs + world.now),
      sequence: sequenceAt(place),
      isFannedOut: false,
    }
    this.published.push(published)
    world.note(`${id} is published, of ${queue}`)
    this.#deliver(published, false)
    if (world.chance(0.1)) world.after(world.between(0, 3_000), () => this.#deliver(published, true))
  }

  #deliver(published: Published, redelivered: boolean): void {
    const world = this.#world
    const { process, dispatch } = this.#pick()
    const again = (ms: number) => world.after(ms, () => this.#deliver(published, true))
    if (!process.isAlive) return void again(world.between(50, 500))
    let comesAgain = false
    const { event, sequence } = published
    const unread: UnreadEvent = { ...event, read: () => event }
    process.after(world.between(0.2, world.chance(0.1) ? 500 : 5), () => {
      if (this.#acksOnArrival) published.isFannedOut = true
      dispatch
        .fanOut([{ unread, origin: null, redelivered }], async () => [sequence])
        .then(
          () => process.after(world.between(0.1, 3), () => this.#acknowledge(published)),
          () => {
            comesAgain = true
            again(world.between(100, 1_000))
          },
        )
    })
    world.after(ackWaitMs, () => {
      if (published.isFannedOut || comesAgain) return
      // A live process usually extends the messages it has in flight.
      again(!process.isAlive || world.chance(0.3) ? 0 : ackWaitMs)
    })
  }

  /** The server may lose the acknowledgement: then the event is redelivered. */
  #acknowledge(published: Published): void {
    const world = this.#world
    if (world.isHostile && world.chance(0.01))
      return void world.after(ackWaitMs, () => this.#deliver(published, true))
    published.isFannedOut = true
  }
}

function eventOf(id: string, queue: string, at: number): PlatformEvent {
  return {
    ...{ id, type: 'ticket.opened', ...tenant, version: 1, requestId: null, causationId: null },
    actor: { id: 'usr_1', name: 'Ann', type: 'user' },
    resource: { type: 'ticket', id: `tic_${id}`, displayName: 'x' },
    data: { before: null, after: { queue }, changes: [] },
    createdAt: new Date(at).toISOString(),
  } as unknown as PlatformEvent
}
