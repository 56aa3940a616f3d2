import { minId, permissions } from '@opsplane/contracts'
import { epochMs, type World } from '@opsplane/testing'
import type { WebhookCommand } from '../../webhook/domain.js'
import type { Caller } from '../../webhook/rights.js'
import type { Target } from '../../webhook/target.js'
import { deriveDeliveryId } from '../delivery-id.js'
import type { DeliveryJob } from '../job.js'
import { computeBurst } from '../rate-limit/rate-limit-scheduler.js'
import { resendActions } from '../resend/resend-rows.js'
import { type DeliveryRow, type DeliveryRows, isUnfinished } from './delivery-rows.fixture.js'
import type { Endpoints } from './endpoints.fixture.js'
import type { Published } from './event-feed.fixture.js'
import { webhookIds } from './webhooks.fixture.js'

/**
 * Milliseconds for which deliveries that were leased or started may still be sent after
 * another replica changed their webhook.
 */
const inFlightMs = 15_000
const caller: Caller = { userId: 'usr_1', permissions }

/** Checks the guarantees for deliveries against the behaviour in the simulation. */
export class DeliveryProperties {
  /** All events in sequence order. */
  published: readonly Published[] = []
  readonly #world: World
  readonly #rows: DeliveryRows
  readonly #endpoints: Endpoints
  /** When sending to a webhook had to stop. */
  readonly #stopped = new Map<string, number>()
  readonly #wasDeleted = new Set<string>()
  /** Deliveries resent manually, which are excluded from the ordering guarantee. */
  readonly #resent = new Set<string>()
  /** Start times of attempts to webhooks with a rate limit. */
  readonly #begun = new Map<string, number[]>()
  /** The last seen state of each delivery. */
  readonly #seen = new Map<string, Pick<DeliveryRow, 'status' | 'attempts' | 'cycleBase'>>()
  /** Until when each delivery is leased to a replica. */
  readonly #leases = new Map<string, number>()
  /** The present lease owner of each delivery. */
  readonly #holders = new Map<string, string>()
  /** Number of requests made for each delivery. */
  readonly #requests = new Map<string, number>()
  #replays = 0

  constructor(world: World, rows: DeliveryRows, endpoints: Endpoints) {
    this.#world = world
    this.#rows = rows
    this.#endpoints = endpoints
  }

  /** Changes a webhook. Returns whether it changed. */
  change(id: string, what: 'pause' | 'resume' | 'update' | 'delete'): boolean {
    const world = this.#world
    if (!this.#rows.webhooks.has(id)) return false
    const isChanged = this.#rows.handle(id, commandOf(what, new Date(epochMs + world.now).toISOString()))
    if (isChanged) world.note(`${id}: ${what}`)
    if (what === 'delete') this.#wasDeleted.add(id)
    this.#noteStops()
    return isChanged
  }

  /** Retries or replays a delivery like a user. Returns false if neither is allowed. */
  resend(): boolean {
    const world = this.#world
    const finished = [...this.#rows.deliveries.values()].filter(
      ({ status, webhookId }) =>
        (status === 'failed' || status === 'succeeded') && this.#rows.webhooks.has(webhookId),
    )
    if (finished.length === 0) return false
    const row = world.pick(finished)
    const action = world.pick(resendActions[row.status as 'failed' | 'succeeded'])
    const replayId = `${minId('delivery', epochMs + world.now)}R${String(++this.#replays).padStart(15, '0')}`
    const made = this.#rows.resend(row, action, replayId)
    this.#resent.add(made.id)
    this.#seen.delete(made.id)
    world.note(`${action} of ${row.id}: ${made.id}`)
    return true
  }

  /** Called after a statement has committed. */
  committed(): void {
    this.#noteStops()
    for (const row of this.#rows.deliveries.values()) {
      const { id, webhookId, status, attempts, cycleBase, leaseOwner: owner, dueAt } = row
      if (owner !== null && dueAt !== null) this.#leased(id, owner, dueAt)
      else this.#holders.delete(id)
      const before = this.#seen.get(id)
      if (before?.status === status && before.attempts === attempts && before.cycleBase === cycleBase)
        continue
      this.#world.note(`${id} of ${webhookId} is ${status} after ${attempts} attempts`)
      if (before?.status === 'succeeded') this.#world.broken(`${id} has succeeded, and is ${status} then`)
      if (before && before.attempts === attempts && before.status !== 'pending' && status !== 'succeeded')
        if (this.#rows.webhooks.has(webhookId))
          this.#world.broken(`attempt ${attempts} of ${id} was ${before.status}, and is ${status} then`)
      this.#seen.set(id, { status, attempts, cycleBase })
    }
  }

  #noteStops(): void {
    for (const id of webhookIds) {
      const isSent = this.#rows.webhooks.get(id)?.state.status === 'active'
      if (isSent) this.#stopped.delete(id)
      else if (!this.#stopped.has(id)) this.#stopped.set(id, this.#world.now)
    }
  }

  /** Called when an attempt starts. */
  begins({ webhookId, target }: DeliveryJob): void {
    const perSecond = target.rateLimitPerSecond
    if (perSecond === null) return
    const { now } = this.#world
    const begun = [...(this.#begun.get(webhookId) ?? []), now]
    this.#begun.set(webhookId, begun)
    for (const [at, since] of begun.entries()) {
      const most = (perSecond * (now - since)) / 1_000 + computeBurst(perSecond)
      if (begun.length - at > most + 1e-6)
        this.#world.broken(`${begun.length - at} attempts to ${webhookId} within ${now - since} ms`)
    }
  }

  /** Called when a request leaves a replica. */
  sent(replica: string, job: DeliveryJob, target: Target): void {
    const world = this.#world
    const { deliveryId: id } = job
    world.note(`${replica} sends ${id} of ${target.id}, attempt ${job.attempts + 1}`)
    this.#requests.set(id, (this.#requests.get(id) ?? 0) + 1)
    const stoppedAt = this.#stopped.get(target.id)
    if (stoppedAt !== undefined && world.now > stoppedAt + inFlightMs)
      world.broken(`${id} is sent ${Math.round(world.now - stoppedAt)} ms after ${target.id} was stopped`)
    const row = this.#rows.deliveries.get(id)
    if (!job.first && this.#rows.webhooks.has(target.id)) this.#checkLease(replica, id)
    if (row && row.orderingKey !== null && !this.#resent.has(id)) this.#checkOrder(row)
  }

  #leased(id: string, owner: string, until: number): void {
    const before = this.#holders.get(id)
    const beforeUntil = this.#leases.get(`${id} ${before}`) ?? 0
    if (before !== undefined && before !== owner && beforeUntil > this.#rows.now)
      this.#world.broken(`${id} is leased to ${owner}, and to ${before} until ${beforeUntil}`)
    this.#holders.set(id, owner)
    this.#leases.set(`${id} ${owner}`, until)
  }

  /**
   * A delivery that was not started before its row existed must be sent during its replica's own lease. A late result
   * may have ended the lease meanwhile.
   */
  #checkLease(replica: string, id: string): void {
    const until = this.#leases.get(`${id} ${replica}`) ?? 0
    const holder = this.#holders.get(id) ?? replica
    if (until <= this.#rows.now || holder !== replica)
      this.#world.broken(
        `${replica} sends ${id} without its lease, which it had until ${until}: ${holder} has it`,
      )
  }

  /** All earlier events of the key must be finished, whichever replica fans them out. */
  #checkOrder({ id, webhookId, orderingKey, orderingSequence }: DeliveryRow): void {
    for (const { event, sequence } of this.published) {
      if (sequence >= (orderingSequence ?? '')) return
      if (JSON.stringify(event.data.after?.queue) !== orderingKey) continue
      const before = this.#rows.deliveries.get(deriveDeliveryId(event.id, webhookId))
      if (before && (!isUnfinished(before) || this.#resent.has(before.id))) continue
      this.#world.broken(`${id} of ${webhookId} is sent before ${event.id}, which is ${before?.status}`)
    }
  }

  /** Describes the deliveries that are not finished yet. */
  unfinished(): string {
    return [...this.#rows.deliveries.values()]
      .filter(isUnfinished)
      .map(({ id, webhookId, status, dueAt, leaseOwner }) =>
        [id, webhookId, status, dueAt && dueAt - epochMs, leaseOwner].join(' '),
      )
      .join('; ')
  }

  /** Checks the final state: each endpoint has accepted each event, or the delivery states the reason. */
  checkAll(): void {
    for (const { event } of this.published)
      for (const webhookId of webhookIds) {
        const row = this.#rows.deliveries.get(deriveDeliveryId(event.id, webhookId))
        if (row) this.#checkEnd(row)
        else if (!this.#wasDeleted.has(webhookId))
          this.#world.broken(`${event.id} has no delivery to ${webhookId}`)
      }
    for (const row of this.#rows.deliveries.values()) this.#checkAttempts(row)
  }

  #checkEnd({
    id,
    webhookId,
    eventId,
    status,
    attempts,
    cycleBase,
    lastErrorKind,
    lastResponseStatus,
  }: DeliveryRow) {
    const receipt = this.#endpoints.receipts.get(`${webhookId} ${eventId}`)
    if (status === 'succeeded' && !receipt?.isAccepted)
      this.#world.broken(`${id} has succeeded, and ${webhookId} has not accepted ${eventId}`)
    const isStated = lastErrorKind === 'webhook_deleted' || lastResponseStatus === 410
    if (status === 'failed' && !isStated && attempts - cycleBase < 3)
      this.#world.broken(`${id} has failed after ${attempts - cycleBase} attempts`)
  }

  /** Each attempt must be recorded exactly once. */
  #checkAttempts({ id, attempts }: DeliveryRow): void {
    const requests = this.#requests.get(id) ?? 0
    if (attempts > requests) this.#world.broken(`${id} counts ${attempts} attempts of ${requests} requests`)
    for (let number = 1; number <= attempts; number++)
      if (!this.#rows.attempts.has(`${id}/${number}`))
        this.#world.broken(`attempt ${number} of ${id} is not kept`)
    if (this.#rows.attempts.has(`${id}/${attempts + 1}`))
      this.#world.broken(`${id} has more attempts than it counts`)
  }
}

function commandOf(what: 'pause' | 'resume' | 'update' | 'delete', now: string): WebhookCommand {
  if (what === 'delete') return { kind: 'delete' }
  if (what === 'update') return { kind: 'update', now, caller, settings: { name: now } }
  if (what === 'resume') return { kind: 'update', now, caller, settings: { status: 'active' } }
  return { kind: 'update', now, caller, settings: { status: 'paused' } }
}
