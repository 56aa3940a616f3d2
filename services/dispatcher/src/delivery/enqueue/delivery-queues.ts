import { systemTimers, type Timers } from '@opsplane/runtime'
import type { RateLimitScheduler } from '../rate-limit/rate-limit-scheduler.js'
import type { DueSignal } from './due-signal.js'
import { createQueueClass, type QueueClass } from './queue-class.js'
import type { Endpoint, Job, QueueUsage, Share, Tenant } from './queue-usage.js'

export type { Job, Share } from './queue-usage.js'

/** How an endpoint took an attempt; decides how many it gets at once. */
export type EndpointHealth = 'healthy' | 'busy' | 'unhealthy'

export interface QueuesOptions<J extends Job> {
  /** Attempts in flight at once, per queue class. Those that take longer than `slowAfterMs` are counted apart. */
  concurrency: { first: number; retry: number }
  maxSlow: number
  slowAfterMs: number
  /** Most attempts in flight at once to one webhook. */
  endpointConcurrency: number
  /** Jobs kept in memory over all webhooks. */
  maxQueued: number
  /** Bodies kept in memory over all webhooks, queued or in flight. A webhook has an eighth of it, or one body. */
  maxBytes: number
  /** What one workspace may have of all this: attempts in flight per queue class, slow ones, jobs and bytes. */
  share(workspaceId: string): Share
  timers?: Timers
  /** Asked before a job with a rate limit starts. */
  scheduler: Pick<RateLimitScheduler, 'take' | 'places' | 'isClosed' | 'closed'>
  /** Sends and records a job; its place is free again when it resolves. */
  deliver(job: J): Promise<EndpointHealth>
  /** There may be room again for a webhook that was turned away. */
  due: Pick<DueSignal, 'wakeIn'>
}

type Place = Pick<Job, 'webhookId' | 'workspaceId' | 'bytes' | 'heldUpSince'>

export interface DeliveryQueues<J extends Job> {
  /**
   * Sets a place aside for a job of this webhook; false when its queue, or the memory, is full. `perSecond`: the
   * webhook's rate limit, if it has one. Sets `heldUpSince` where it is the webhook or the workspace that is full.
   */
  reserve(job: Place, perSecond?: number | null): boolean
  /** Gives a reserved place back. */
  release(job: Place): void
  /** Queues a job for a place reserved before. */
  submit(job: J): void
  /** A webhook that waited for a slot of its rate limit need not wait any longer. */
  resume(webhookId: string): void
  /** Webhooks that take no further jobs now. */
  full(): string[]
  /** Jobs and bytes there is room for. */
  room(): { jobs: number; bytes: number }
  /** Removes and returns the queued jobs of one webhook. */
  discard(webhookId: string): J[]
  /** Starts nothing more; returns what is queued and waits for what is in flight. */
  stop(): Promise<J[]>
}

export const queueLimits = {
  maxQueued: 20_000,
  maxBytes: 64 * 1024 * 1024,
  maxSlow: 4_096,
  slowAfterMs: 1_000,
}
const startLimit = 4
const queuedPerSlot = 8
const sharesOfMemory = 8

/**
 * The in-memory queues: one per webhook and queue class, served round-robin, so that no webhook waits for another one's
 * endpoint. An endpoint's share grows while it answers well and shrinks when it does not. An attempt that takes
 * long stops counting against the queue class: an open socket is cheap, a blocked queue class is not.
 */
export function createDeliveryQueues<J extends Job>(options: QueuesOptions<J>): DeliveryQueues<J> {
  const { timers = systemTimers } = options
  const shareOfMemory = options.maxBytes / sharesOfMemory
  const queueClasses: Record<Job['queueClass'], QueueClass<J>> = {
    first: createQueueClass(options.concurrency.first, timers.now),
    retry: createQueueClass(options.concurrency.retry, timers.now),
  }
  const endpoints = new Map<string, Endpoint>()
  const tenants = new Map<string, Tenant>()
  const all: QueueUsage = { waiting: 0, bytes: 0 }
  /** Some job was turned away for what all have, until half of that is free. */
  let shortOfRoom = false
  let slow = 0
  let running = 0
  let stopped = false
  let idle: (() => void) | undefined

  const tenantOf = (workspaceId: string): Tenant => {
    const known = tenants.get(workspaceId)
    if (known) return known
    const fresh = {
      workspaceId,
      running: { first: 0, retry: 0 },
      slow: 0,
      waiting: 0,
      bytes: 0,
      parked: { first: new Set<string>(), retry: new Set<string>() },
      turnedAway: new Set<string>(),
      endpoints: 0,
    }
    tenants.set(workspaceId, fresh)
    return fresh
  }

  const endpointOf = (webhookId: string, workspaceId: string): Endpoint => {
    const known = endpoints.get(webhookId)
    if (known) return known
    const tenant = tenantOf(workspaceId)
    tenant.endpoints++
    const fresh = {
      webhookId,
      tenant,
      share: options.share(workspaceId),
      limit: Math.min(startLimit, options.endpointConcurrency),
      running: 0,
      waiting: 0,
      bytes: 0,
      turnedAway: false,
      shortOfMemory: false,
      perSecond: undefined,
      servedLast: undefined,
    }
    endpoints.set(webhookId, fresh)
    return fresh
  }

  const hasItsShare = (tenant: Tenant, share: Share) =>
    tenant.waiting >= share.queued || tenant.bytes >= share.bytes
  const placesOf = ({ limit, perSecond }: Endpoint) =>
    Math.min(limit * queuedPerSlot, perSecond === undefined ? Infinity : options.scheduler.places(perSecond))
  /** With a rate limit, one that was turned away stays full until half is free: else each slot used is a claim. */
  const isFull = (endpoint: Endpoint) => {
    const { waiting, turnedAway, perSecond, bytes, tenant, share } = endpoint
    if (hasItsShare(tenant, share)) return true
    const places = placesOf(endpoint)
    if (endpoint.shortOfMemory || bytes >= shareOfMemory) return true
    return waiting >= places || (perSecond !== undefined && turnedAway && waiting > places / 2)
  }

  function hold(endpoint: Endpoint, jobs: number, bytes: number) {
    for (const held of [endpoint, endpoint.tenant, all]) {
      held.waiting += jobs
      held.bytes += bytes
    }
  }

  function leave(endpoint: Endpoint, jobs: number, bytes: number) {
    hold(endpoint, -jobs, -bytes)
    seeToRoom(endpoint)
    forgetIfIdle(endpoint)
  }

  function seeToRoom(endpoint: Endpoint) {
    const { tenant, share } = endpoint
    const roomyInMemory = endpoint.bytes <= shareOfMemory / 2
    const roomy = roomyInMemory && endpoint.waiting <= placesOf(endpoint) / 2
    const eased = tenant.waiting <= share.queued / 2 && tenant.bytes <= share.bytes / 2
    const admitted = eased && tenant.turnedAway.size > 0
    if (admitted) tenant.turnedAway.clear()
    const served = endpoint.turnedAway && roomy
    const roomier = shortOfRoom && all.waiting <= options.maxQueued / 2 && all.bytes <= options.maxBytes / 2
    if (served) endpoint.turnedAway = false
    if (roomyInMemory) endpoint.shortOfMemory = false
    if (roomier) shortOfRoom = false
    if (served || roomier || admitted) options.due.wakeIn(0)
  }

  /** Among the jobs of all webhooks. */
  function isRoomFor(bytes: number): boolean {
    const isFull = all.waiting >= options.maxQueued || (all.bytes > 0 && all.bytes + bytes > options.maxBytes)
    if (isFull) shortOfRoom = true
    return !isFull
  }

  function fits(endpoint: Endpoint, bytes: number): boolean {
    // Until then it counts as full: else what does not fit is claimed and given back over and over.
    endpoint.shortOfMemory = endpoint.bytes > 0 && endpoint.bytes + bytes > shareOfMemory
    return !endpoint.shortOfMemory
  }

  /** An endpoint that is at its ease is not remembered; one that is unwell keeps its small share. */
  function forgetIfIdle(endpoint: Endpoint) {
    const { webhookId, tenant } = endpoint
    const atEase = endpoint.limit >= Math.min(startLimit, options.endpointConcurrency)
    if (
      endpoint.running === 0 &&
      endpoint.waiting === 0 &&
      endpoint.bytes === 0 &&
      !endpoint.turnedAway &&
      (atEase || endpoints.size > 10_000)
    ) {
      endpoints.delete(webhookId)
      if (--tenant.endpoints === 0) tenants.delete(tenant.workspaceId)
    }
  }

  function pump(order: readonly Job['queueClass'][] = ['first', 'retry']) {
    if (stopped) return
    for (const name of order) {
      const queueClass = queueClasses[name]
      for (let webhookId = queueClass.next(); webhookId !== undefined; webhookId = queueClass.next()) {
        const endpoint = endpoints.get(webhookId)
        if (endpoint && endpoint.tenant.running[name] < endpoint.share.attempts) {
          serve(queueClass, webhookId, endpoint)
          // It may not have started: what is left of the workspace's share is for another one.
          if (endpoint.tenant.running[name] < endpoint.share.attempts) unparkNext(endpoint.tenant, name)
        } else {
          queueClass.park(webhookId)
          endpoint?.tenant.parked[name].add(webhookId)
        }
      }
    }
  }

  /** Starts the webhook's next job, unless it may not have another attempt now. */
  function serve(queueClass: QueueClass<J>, webhookId: string, endpoint: Endpoint) {
    if (endpoint.running >= endpoint.limit || !hasSlot(queueClass.peek(webhookId), endpoint))
      return queueClass.park(webhookId)
    const job = queueClass.take(webhookId)
    if (!job) return
    // An outlived lease is no loss: the delivery is due in Postgres again.
    const inTime = job.sendBefore > timers.now()
    if (inTime) start(endpoint, job)
    leave(endpoint, 1, inTime ? 0 : job.bytes)
  }

  /** What its lease no longer covers needs no slot: it is not sent. */
  function hasSlot(job: J | undefined, endpoint: Endpoint): boolean {
    const { perSecond, waiting } = endpoint
    if (perSecond === undefined || !job || job.sendBefore <= timers.now()) return true
    if (!options.scheduler.take(job.webhookId, perSecond, waiting)) return false
    endpoint.servedLast = job.queueClass
    return true
  }

  /** Slots of a rate limit alternate between the queue classes. */
  function resume(webhookId: string) {
    for (const each of [queueClasses.first, queueClasses.retry]) each.unpark(webhookId)
    pump(endpoints.get(webhookId)?.servedLast === 'first' ? ['retry', 'first'] : undefined)
  }

  function start(endpoint: Endpoint, job: J) {
    const { tenant, share } = endpoint
    endpoint.running++
    queueClasses[job.queueClass].running++
    tenant.running[job.queueClass]++
    running++
    let countsAsSlow = false
    const timer = timers.setTimeout(() => {
      if (slow >= options.maxSlow || tenant.slow >= share.slow) return
      countsAsSlow = true
      slow++
      tenant.slow++
      leaveQueueClass(tenant, job.queueClass)
      pump()
    }, options.slowAfterMs)
    timer.unref()

    void options.deliver(job).then((health) => {
      timers.clearTimeout(timer)
      if (countsAsSlow) {
        slow--
        tenant.slow--
      } else leaveQueueClass(tenant, job.queueClass)
      endpoint.running--
      running--
      adapt(endpoint, health)
      leave(endpoint, 0, job.bytes)
      resume(job.webhookId)
      if (running === 0) idle?.()
    })
  }

  function leaveQueueClass(tenant: Tenant, name: Job['queueClass']) {
    queueClasses[name].running--
    tenant.running[name]--
    unparkNext(tenant, name)
  }

  /** Lets one of the workspace's webhooks that wait for their share, and have work, try again. */
  function unparkNext({ parked }: Tenant, name: Job['queueClass']) {
    for (const webhookId of parked[name]) {
      parked[name].delete(webhookId)
      if (queueClasses[name].unpark(webhookId)) return
    }
  }

  /** Why there is no place: for what its webhook or workspace has already, or for what all have. */
  function reserve(
    { webhookId, workspaceId, bytes }: Place,
    perSecond?: number | null,
  ): 'held_up' | 'no_room' | undefined {
    if (typeof perSecond === 'number' && options.scheduler.isClosed(webhookId)) return 'held_up'
    const endpoint = endpointOf(webhookId, workspaceId)
    endpoint.perSecond = perSecond ?? undefined
    if (hasItsShare(endpoint.tenant, endpoint.share)) {
      endpoint.tenant.turnedAway.add(webhookId)
      forgetIfIdle(endpoint)
      return 'held_up'
    }
    if (stopped || !isRoomFor(bytes)) {
      forgetIfIdle(endpoint)
      return 'no_room'
    }
    if (isFull(endpoint) || !fits(endpoint, bytes)) {
      endpoint.turnedAway = true
      return 'held_up'
    }
    hold(endpoint, 1, bytes)
    return undefined
  }

  function release({ webhookId, workspaceId, bytes }: Place) {
    leave(endpointOf(webhookId, workspaceId), 1, bytes)
  }

  function adapt(endpoint: Endpoint, health: EndpointHealth) {
    if (health === 'healthy') endpoint.limit = Math.min(endpoint.limit + 1, options.endpointConcurrency)
    if (health === 'unhealthy') endpoint.limit = Math.max(1, Math.floor(endpoint.limit / 2))
  }

  return {
    reserve(job, perSecond) {
      const refused = reserve(job, perSecond)
      if (refused === 'held_up') job.heldUpSince ??= timers.now()
      return refused === undefined
    },
    release,
    submit(job) {
      queueClasses[job.queueClass].put(job.webhookId, job)
      pump()
    },
    resume,
    full: () => [
      ...[...tenants.values()].flatMap(({ turnedAway }) => [...turnedAway]),
      ...[...endpoints].filter(([, endpoint]) => isFull(endpoint)).map(([webhookId]) => webhookId),
      ...options.scheduler.closed(),
    ],
    room() {
      const bytes = all.bytes === 0 ? options.maxBytes : options.maxBytes - all.bytes
      const jobs = options.maxQueued - all.waiting
      if (bytes <= 0 || jobs <= 0) shortOfRoom = true
      return { jobs: stopped ? 0 : jobs, bytes }
    },
    discard(webhookId) {
      const tenant = endpoints.get(webhookId)?.tenant
      const jobs = [...queueClasses.first.clear(webhookId), ...queueClasses.retry.clear(webhookId)]
      for (const job of jobs) release(job)
      // It may have been its turn.
      if (tenant) for (const name of ['first', 'retry'] as const) unparkNext(tenant, name)
      pump()
      return jobs
    },
    async stop() {
      stopped = true
      const jobs = [...queueClasses.first.clearAll(), ...queueClasses.retry.clearAll()]
      if (running > 0)
        await new Promise<void>((resolve) => {
          idle = resolve
        })
      return jobs
    },
  }
}
