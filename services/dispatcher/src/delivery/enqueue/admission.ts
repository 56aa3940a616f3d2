import type { RateLimitScheduler } from '../rate-limit/rate-limit-scheduler.js'
import type { DueSignal } from './due-signal.js'
import type { Endpoint, Job, QueueUsage, Share, Tenant } from './queue-usage.js'

export interface AdmissionOptions {
  /** Maximum concurrent attempts to one webhook. */
  endpointConcurrency: number
  /** Maximum jobs in memory over all webhooks. */
  maxQueued: number
  /**
   * Maximum bytes in memory over all webhooks, queued or in flight. A webhook gets an eighth
   * of it, or a single larger body.
   */
  maxBytes: number
  /** One workspace's limits: attempts in flight per queue class, slow attempts, jobs and bytes. */
  share(workspaceId: string): Share
  scheduler: Pick<RateLimitScheduler, 'places' | 'isClosed' | 'closed'>
  /** Woken when a rejected webhook may have room again. */
  due: Pick<DueSignal, 'wakeIn'>
}

export type Place = Pick<Job, 'webhookId' | 'workspaceId' | 'bytes' | 'heldUpSince'>

/** Reason for a rejection: the limit of the webhook or workspace, or the limit over all. */
type Refusal = 'held_up' | 'no_room'

const startLimit = 4
const queuedPerSlot = 8
const sharesOfMemory = 8
const maxIdleEndpoints = 10_000

/** Decides which jobs are admitted to memory. */
export function createAdmission(options: AdmissionOptions) {
  const { endpointConcurrency, maxQueued, maxBytes, scheduler } = options
  const shareOfMemory = maxBytes / sharesOfMemory
  const initialLimit = Math.min(startLimit, endpointConcurrency)
  const endpoints = new Map<string, Endpoint>()
  const tenants = new Map<string, Tenant>()
  const all: QueueUsage = { waiting: 0, bytes: 0 }
  /** Set when a job was rejected for the overall limits; cleared when usage falls to half of them. */
  let shortOfRoom = false
  let stopped = false

  const tenantOf = (workspaceId: string): Tenant => {
    const known = tenants.get(workspaceId)
    if (known) return known
    const fresh = {
      ...{ workspaceId, slow: 0, waiting: 0, bytes: 0, endpoints: 0 },
      running: { first: 0, retry: 0 },
      parked: { first: new Set<string>(), retry: new Set<string>() },
      refused: new Set<string>(),
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
      ...{ webhookId, tenant, share: options.share(workspaceId), limit: initialLimit },
      ...{ running: 0, waiting: 0, bytes: 0, wasRefused: false, shortOfMemory: false },
      ...{ perSecond: undefined, servedLast: undefined },
    }
    endpoints.set(webhookId, fresh)
    return fresh
  }

  const hasItsShare = ({ tenant, share }: Endpoint) =>
    tenant.waiting >= share.queued || tenant.bytes >= share.bytes
  const placesOf = ({ limit, perSecond }: Endpoint) =>
    Math.min(limit * queuedPerSlot, perSecond === undefined ? Infinity : scheduler.places(perSecond))
  /**
   * With a rate limit, an endpoint that was rejected stays full until half of its places are free; otherwise every used
   * slot would cause a claim.
   */
  const isFull = (endpoint: Endpoint) => {
    const { waiting, wasRefused, shortOfMemory, perSecond, bytes } = endpoint
    if (hasItsShare(endpoint) || shortOfMemory || bytes >= shareOfMemory) return true
    const places = placesOf(endpoint)
    return waiting >= places || (perSecond !== undefined && wasRefused && waiting > places / 2)
  }

  function count(endpoint: Endpoint, jobs: number, bytes: number) {
    for (const usage of [endpoint, endpoint.tenant, all]) {
      usage.waiting += jobs
      usage.bytes += bytes
    }
  }

  /** Subtracts jobs that left the queue of an endpoint, and bytes that were freed. */
  function free(endpoint: Endpoint, jobs: number, bytes: number) {
    count(endpoint, -jobs, -bytes)
    announceRoom(endpoint)
    forgetIfIdle(endpoint)
  }

  /** Clears the flags of every limit whose usage has fallen to half, and wakes the poller. */
  function announceRoom(endpoint: Endpoint) {
    const { tenant, share } = endpoint
    const hasMemory = endpoint.bytes <= shareOfMemory / 2
    const isServed = endpoint.wasRefused && hasMemory && endpoint.waiting <= placesOf(endpoint) / 2
    const hasShare = tenant.waiting <= share.queued / 2 && tenant.bytes <= share.bytes / 2
    const isTenantServed = hasShare && tenant.refused.size > 0
    const hasRoom = shortOfRoom && all.waiting <= maxQueued / 2 && all.bytes <= maxBytes / 2
    if (isTenantServed) tenant.refused.clear()
    if (isServed) endpoint.wasRefused = false
    if (hasMemory) endpoint.shortOfMemory = false
    if (hasRoom) shortOfRoom = false
    if (isServed || hasRoom || isTenantServed) options.due.wakeIn(0)
  }

  /** Checks the overall limits. */
  function isRoomFor(bytes: number): boolean {
    const isFull = all.waiting >= maxQueued || (all.bytes > 0 && all.bytes + bytes > maxBytes)
    if (isFull) shortOfRoom = true
    return !isFull
  }

  function fits(endpoint: Endpoint, bytes: number): boolean {
    // Marks the endpoint as full until memory is free; otherwise a job that does not fit would
    // be claimed and released repeatedly.
    endpoint.shortOfMemory = endpoint.bytes > 0 && endpoint.bytes + bytes > shareOfMemory
    return !endpoint.shortOfMemory
  }

  /** Forgets an idle endpoint. One that responds badly is remembered with its reduced limit. */
  function forgetIfIdle(endpoint: Endpoint) {
    const { webhookId, tenant, running, waiting, bytes, wasRefused, limit } = endpoint
    if (running > 0 || waiting > 0 || bytes > 0 || wasRefused) return
    if (limit < initialLimit && endpoints.size <= maxIdleEndpoints) return
    endpoints.delete(webhookId)
    if (--tenant.endpoints === 0) tenants.delete(tenant.workspaceId)
  }

  return {
    reserve({ webhookId, workspaceId, bytes }: Place, perSecond?: number | null): Refusal | undefined {
      if (typeof perSecond === 'number' && scheduler.isClosed(webhookId)) return 'held_up'
      const endpoint = endpointOf(webhookId, workspaceId)
      endpoint.perSecond = perSecond ?? undefined
      if (hasItsShare(endpoint)) {
        endpoint.tenant.refused.add(webhookId)
        forgetIfIdle(endpoint)
        return 'held_up'
      }
      if (stopped || !isRoomFor(bytes)) {
        forgetIfIdle(endpoint)
        return 'no_room'
      }
      if (isFull(endpoint) || !fits(endpoint, bytes)) {
        endpoint.wasRefused = true
        return 'held_up'
      }
      count(endpoint, 1, bytes)
      return undefined
    },
    /** Frees a reserved place. */
    release: ({ webhookId, workspaceId, bytes }: Place) => free(endpointOf(webhookId, workspaceId), 1, bytes),
    free,
    find: (webhookId: string) => endpoints.get(webhookId),
    /** Webhooks that accept no further jobs now. */
    full: () => [
      ...[...tenants.values()].flatMap(({ refused }) => [...refused]),
      ...[...endpoints].filter(([, endpoint]) => isFull(endpoint)).map(([webhookId]) => webhookId),
      ...scheduler.closed(),
    ],
    /** Remaining jobs and bytes. */
    room() {
      const bytes = all.bytes === 0 ? maxBytes : maxBytes - all.bytes
      const jobs = maxQueued - all.waiting
      if (bytes <= 0 || jobs <= 0) shortOfRoom = true
      return { jobs: stopped ? 0 : jobs, bytes }
    },
    /** Admits no further jobs. */
    stop() {
      stopped = true
    },
  }
}
