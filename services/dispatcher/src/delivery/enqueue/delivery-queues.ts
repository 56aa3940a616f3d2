import { systemTimers, type Timers } from '@opsplane/runtime'
import type { RateLimitScheduler } from '../rate-limit/rate-limit-scheduler.js'
import { type AdmissionOptions, createAdmission, type Place } from './admission.js'
import { QueueClass } from './queue-class.js'
import type { Endpoint, Job, Tenant } from './queue-usage.js'

export type { Job, Share } from './queue-usage.js'

/** How an endpoint answered an attempt; decides how many it gets at once. */
export type EndpointHealth = 'healthy' | 'busy' | 'unhealthy'

export interface QueuesOptions<J extends Job> extends AdmissionOptions {
  /** Attempts in flight at once, per queue class. Those that take longer than `slowAfterMs` are counted apart. */
  concurrency: { first: number; retry: number }
  maxSlow: number
  slowAfterMs: number
  timers?: Timers
  /** Asked before a job with a rate limit starts. */
  scheduler: Pick<RateLimitScheduler, 'useSlot' | 'places' | 'isClosed' | 'closed'>
  /** Sends and records a job; its place is free again when it resolves. */
  deliver(job: J): Promise<EndpointHealth>
}

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

/**
 * The in-memory queues: one per webhook and queue class, served round-robin, so that no webhook waits for another one's
 * endpoint. An endpoint's share grows while it answers well and shrinks when it does not. An attempt that takes
 * long stops counting against the queue class: an open socket is cheap, a blocked queue class is not.
 */
export function createDeliveryQueues<J extends Job>(options: QueuesOptions<J>): DeliveryQueues<J> {
  const { timers = systemTimers } = options
  const admission = createAdmission(options)
  const queueClasses: Record<Job['queueClass'], QueueClass<J>> = {
    first: new QueueClass(options.concurrency.first, timers.now),
    retry: new QueueClass(options.concurrency.retry, timers.now),
  }
  let slow = 0
  let running = 0
  let stopped = false
  let idle: (() => void) | undefined

  function pump(order: readonly Job['queueClass'][] = ['first', 'retry']) {
    if (stopped) return
    for (const name of order) {
      const queueClass = queueClasses[name]
      for (let webhookId = queueClass.next(); webhookId !== undefined; webhookId = queueClass.next()) {
        const endpoint = admission.find(webhookId)
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
    const job = queueClass.shift(webhookId)
    if (!job) return
    // An outlived lease is no loss: the delivery is due in Postgres again.
    const inTime = job.sendBefore > timers.now()
    if (inTime) start(endpoint, job)
    admission.free(endpoint, 1, inTime ? 0 : job.bytes)
  }

  /** What its lease no longer covers needs no slot: it is not sent. */
  function hasSlot(job: J | undefined, endpoint: Endpoint): boolean {
    const { perSecond, waiting } = endpoint
    if (perSecond === undefined || !job || job.sendBefore <= timers.now()) return true
    if (!options.scheduler.useSlot(job.webhookId, perSecond, waiting)) return false
    endpoint.servedLast = job.queueClass
    return true
  }

  /** Slots of a rate limit alternate between the queue classes. */
  function resume(webhookId: string) {
    for (const each of [queueClasses.first, queueClasses.retry]) each.unpark(webhookId)
    pump(admission.find(webhookId)?.servedLast === 'first' ? ['retry', 'first'] : undefined)
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
      admission.free(endpoint, 0, job.bytes)
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

  function adapt(endpoint: Endpoint, health: EndpointHealth) {
    if (health === 'healthy') endpoint.limit = Math.min(endpoint.limit + 1, options.endpointConcurrency)
    if (health === 'unhealthy') endpoint.limit = Math.max(1, Math.floor(endpoint.limit / 2))
  }

  return {
    reserve(job, perSecond) {
      const refusal = admission.reserve(job, perSecond)
      if (refusal === 'held_up') job.heldUpSince ??= timers.now()
      return refusal === undefined
    },
    release: admission.release,
    submit(job) {
      queueClasses[job.queueClass].put(job.webhookId, job)
      pump()
    },
    resume,
    full: admission.full,
    room: admission.room,
    discard(webhookId) {
      const tenant = admission.find(webhookId)?.tenant
      const jobs = [...queueClasses.first.clear(webhookId), ...queueClasses.retry.clear(webhookId)]
      for (const job of jobs) admission.release(job)
      // It may have been its turn.
      if (tenant) for (const name of ['first', 'retry'] as const) unparkNext(tenant, name)
      pump()
      return jobs
    },
    async stop() {
      stopped = true
      admission.stop()
      const jobs = [...queueClasses.first.clearAll(), ...queueClasses.retry.clearAll()]
      if (running > 0)
        await new Promise<void>((resolve) => {
          idle = resolve
        })
      return jobs
    },
  }
}
