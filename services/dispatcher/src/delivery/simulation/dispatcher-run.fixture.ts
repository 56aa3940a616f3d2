import { createLogger } from '@opsplane/runtime'
import { DatabaseServer, epochMs, Process, Replicas, World } from '@opsplane/testing'
import type { DeliveryStore } from '../delivery-store.js'
import { startDispatch } from '../dispatch.js'
import type { DeliveryJob } from '../job.js'
import type { MakeAttempt } from '../send/attempt.js'
import { DeliveryRows } from './delivery-rows.fixture.js'
import { deliveryStoreInMemory } from './delivery-store-in-memory.fixture.js'
import { Endpoints } from './endpoints.fixture.js'
import { type DispatcherReplica, EventFeed } from './event-feed.fixture.js'
import { DeliveryProperties } from './properties.fixture.js'
import { tenant, webhookIds, webhookStates } from './webhooks.fixture.js'

/** Replacements that a planted fault may make. */
export interface PlantedFault {
  store?: (store: DeliveryStore, world: World) => DeliveryStore
  attempt?: (attempt: MakeAttempt) => MakeAttempt
  /** An event counts as fanned out before its deliveries are committed. */
  acksOnArrival?: true
  /** A low watermark by which every event counts as fanned out for the release of ordered deliveries. */
  lowWatermark?: string
}

const log = createLogger({ service: 'simulation', level: 'silent' })
const leaseMs = 15_000
const hostileMs = 40_000
const settledWithinMs = 3_600_000
const anyShare = {
  attempts: Number.POSITIVE_INFINITY,
  slow: Number.POSITIVE_INFINITY,
  queued: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
}

/** One run of two replicas that fan out and send under all simulated failures, until everything is finished. */
export class DispatcherRun {
  readonly world: World
  readonly #planted: PlantedFault
  readonly #database: DatabaseServer
  readonly #rows: DeliveryRows
  readonly #endpoints: Endpoints
  readonly #properties: DeliveryProperties
  readonly #feed: EventFeed
  readonly #replicas: Replicas<DispatcherReplica>

  constructor(seed: number, planted: PlantedFault = {}) {
    this.#planted = planted
    this.world = new World(seed)
    this.#database = new DatabaseServer(this.world)
    this.#rows = new DeliveryRows(() => epochMs + this.world.now)
    this.#endpoints = new Endpoints(this.world)
    this.#properties = new DeliveryProperties(this.world, this.#rows, this.#endpoints)
    for (const state of webhookStates()) this.#rows.add(tenant, state)
    this.#replicas = new Replicas(
      this.world,
      ['one', 'two'],
      (name) => this.#start(name),
      () => {},
    )
    this.#feed = new EventFeed(this.world, () => this.#replicas.pick(), planted.acksOnArrival)
    this.#properties.published = this.#feed.published
  }

  async run(): Promise<void> {
    const { world } = this
    for (let at = 0; at < 25; at++) world.after(world.between(0, hostileMs), () => this.#feed.publish())
    const faults = world.integer(1, 8)
    for (let at = 0; at < faults; at++) world.after(world.between(200, hostileMs), () => this.#befall())
    await world.run(hostileMs)
    world.isHostile = false
    world.note('all is left to settle')
    for (const id of webhookIds) this.#endpoints.mend(id)
    await world.run(world.now + settledWithinMs, () => this.#isSettled())
    if (!this.#isSettled()) world.broken(`not settled: ${this.#properties.unfinished()}`)
    this.#properties.checkAll()
    await world.run(world.now)
  }

  #start(name: string): DispatcherReplica {
    const { world } = this
    const process = new Process(world, name)
    const { store: change = (store) => store, attempt: changeAttempt = (attempt) => attempt } = this.#planted
    const commit = <T>(act: () => T) =>
      this.#database.commit(process, () => {
        const result = act()
        this.#properties.committed()
        return result
      })
    const jobs = new Map<object, DeliveryJob>()
    const attempt = this.#endpoints.attemptOf(process, (content, target) => {
      const job = jobs.get(content)
      if (job) this.#properties.sent(name, job, target)
    })
    const dispatch = startDispatch({
      deliveries: change(deliveryStoreInMemory(this.#rows, name, commit), world),
      ...{ keptDays: 7, log, leaseMs, drainPerSecond: 50, jitter: 0.1, timers: process.timers },
      attempt: changeAttempt(attempt),
      lowWatermark: () =>
        this.#feed.lowWatermark(process).then((reached) => this.#planted.lowWatermark ?? reached),
      nowMs: () => epochMs + world.now,
      random: () => world.between(0, 1),
      watch: {
        left() {},
        begin: (job) => {
          this.#properties.begins(job)
          const content = { ...job.content }
          jobs.set(content, job)
          return { content, end() {} }
        },
      },
      announce: () => {},
      concurrency: { first: 8, retry: 4, endpoint: 4 },
      share: () => anyShare,
    })
    return { process, dispatch }
  }

  #befall(): void {
    const { world } = this
    const replica = this.#replicas.pick()
    const id = world.pick(webhookIds)
    const faults = [
      () => this.#replicas.restart(replica, world.between(1, 9_000)),
      () => this.#replicas.restart(replica, world.between(1, 30_000)),
      () => void this.#stop(replica),
      () => replica.process.stall(world.between(50, 25_000)),
      () => this.#database.goAway(world.between(100, 20_000)),
      () => this.#endpoints.spoil(id),
      () => this.#endpoints.spoil(id),
      () => this.#change(id, 'pause'),
      () => this.#change(id, 'resume'),
      () => this.#change(id, 'update'),
      () => this.#resend(),
      () => world.chance(0.3) && this.#change(id, 'delete'),
    ]
    world.pick(faults)()
  }

  /** Stops as in a deployment: the replica drains and starts again. */
  async #stop(replica: DispatcherReplica): Promise<void> {
    if (!replica.process.isAlive) return
    this.world.note(`${replica.process.name} stops`)
    await replica.dispatch.close(5_000)
    this.#replicas.restart(replica, this.world.between(1, 2_000))
  }

  /** Changes a webhook by a request to one replica, which the other one has to detect. */
  #change(id: string, what: 'pause' | 'resume' | 'update' | 'delete'): void {
    if (!this.#properties.change(id, what)) return
    const { dispatch, process } = this.#replicas.pick()
    if (process.isAlive) process.after(this.world.between(0.1, 5), () => dispatch.refresh(id, tenant))
  }

  #resend(): void {
    if (!this.#properties.resend()) return
    const { dispatch, process } = this.#replicas.pick()
    if (process.isAlive) process.after(this.world.between(0.1, 5), () => dispatch.wake())
  }

  #isSettled(): boolean {
    // Earlier failures may still pause it.
    for (const id of webhookIds)
      if (this.#rows.webhooks.get(id)?.state.status === 'paused') this.#change(id, 'resume')
    if (!this.#feed.isDone() || !this.#replicas.areAlive) return false
    return this.#properties.unfinished() === '' && this.world.now > hostileMs + 30_000
  }
}
