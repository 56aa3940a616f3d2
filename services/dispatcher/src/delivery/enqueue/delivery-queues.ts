import { systemTimers, type Timers } from '@opsplane/runtime'
import type { RateLimitScheduler } from '../rate-limit/rate-limit-scheduler.js'
import { type AdmissionOptions, createAdmission, type Place } from './admission.js'
import { QueueClass } from './queue-class.js'
import type { Endpoint, Job, Tenant } from './queue-usage.js'

export type { Job, Share } from './queue-usage.js'

/** How an endpoint responded to an attempt; determines its number of concurrent attempts. */
export type EndpointHealth = 'healthy' | 'busy' | 'unhealthy'

export interface QueuesOptions<J extends Job> extends AdmissionOptions {
  /**
   * Maximum attempts in flight per queue class. Attempts that take longer than `slowAfterMs`
   * are counted separately.
   */
  concurrency: { first: number; retry: number }
  maxSlow: number
  slowAfterMs: number
  timers?: Timers
  /** Must grant a slot before a job with a rate limit starts. */
  scheduler: Pick<RateLimitScheduler, 'useSlot' | 'places' | 'isClosed' | 'closed'>
  /** Sends and records a job; its place is freed when the promise resolves. */
  deliver(job: J): Promise<EndpointHealth>
}

export interface DeliveryQueues<J extends Job> {
  /**
   * Reserves a place for a job of this webhook; returns false if its queue or the memory is full. `perSecond`: the
   * webhook's rate limit, if it has one. Sets `heldUpSince` if the limit of the webhook or the workspace is reached.
   */
  reserve(job: Place, perSecond?: number | null): boolean
  /** Releases a reserved place. */
  release(job: Place): void
  /** Queues a job in a place reserved before. */
  submit(job: J): void
  /** Lets a webhook that waited for a slot of its rate limit try again. */
  resume(webhookId: string): void
  /** Webhooks that accept no further jobs now. */
  full(): string[]
  /** Remaining jobs and bytes. */
  room(): { jobs: number; bytes: number }
  /** Removes and returns the queued jobs of one webhook. */
  discard(webhookId: string): J[]
  /** Starts no further jobs, waits for those in flight and returns the queued ones. */
  stop(): Promise<J[]>
}

export const queueLimits = {
  maxQueued: 20_000,
  maxBytes: 64 * 1024 * 1024,
  maxSlow: 4_096,
  slowAfterMs: 1_000,
}

/**
 * The in-memory queues: one per webhook and queue class, served round-robin, so that no webhook waits for the endpoint
 * of another. The concurrency of an endpoint grows while it responds well and shrinks when it does not. A slow attempt
 * stops counting against the queue class: an open socket is cheap, a blocked queue class is not.
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
          // The job may not have started, so the rest of the workspace's share goes to its next webhook.
          if (endpoint.tenant.running[name] < endpoint.share.attempts) unparkNext(endpoint.tenant, name)
        } else {
          queueClass.park(webhookId)
          endpoint?.tenant.parked[name].add(webhookId)
        }
      }
    }
  }

  /** Starts the next job of a webhook, unless it may not have another attempt now. */
  function serve(queueClass: QueueClass<J>, webhookId: string, endpoint: Endpoint) {
    if (endpoint.running >= endpoint.limit || !hasSlot(queueClass.peek(webhookId), endpoint))
      return queueClass.park(webhookId)
    const job = queueClass.shift(webhookId)
    if (!job) return
    // If the lease has expired the job is dropped safely: the delivery is due again in Postgres.
    const inTime = job.sendBefore > timers.now()
    if (inTime) start(endpoint, job)
    admission.free(endpoint, 1, inTime ? 0 : job.bytes)
  }

  /** A job whose lease has expired needs no slot, because it is not sent. */
  function hasSlot(job: J | undefined, endpoint: Endpoint): boolean {
    const { perSecond, waiting } = endpoint
    if (perSecond === undefined || !job || job.sendBefore <= timers.now()) return true
    if (!options.scheduler.useSlot(job.webhookId, perSecond, waiting)) return false
    endpoint.servedLast = job.queueClass
    return true
  }

  /** The slots of a rate limit alternate between the queue classes. */
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

  /** Lets the next webhook with work try again, among those that wait for the workspace's share. */
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
      // The discarded webhook may have been the next one to use the workspace's share.
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
