import { expect, test } from '@jest/globals'
import { systemTimers } from '@opsplane/runtime'
import { createDeliveryQueues, type Job, type QueuesOptions } from './delivery-queues.js'

interface Wait {
  options?: Partial<QueuesOptions<Job>>
  /** Webhooks of the jobs that come before. */
  before: string[]
  perSecond?: number
  isHeldUp: boolean
}

const many = { attempts: 100, slow: 100, queued: 100, bytes: 1_000 }
const noSlots = { useSlot: () => false, places: () => 100, isClosed: () => false, closed: () => [] }
const waits: [string, Wait][] = [
  ['for nothing', { before: [], isHeldUp: false }],
  ['for an attempt of its webhook to end', { before: ['a', 'a'], isHeldUp: true }],
  ['for a slot of its rate limit', { before: [], perSecond: 5, isHeldUp: true }],
  [
    'for an attempt of its workspace to end',
    { options: { share: () => ({ ...many, attempts: 1 }) }, before: ['b'], isHeldUp: true },
  ],
  [
    'for room in the share of its workspace',
    { options: { share: () => ({ ...many, queued: 0 }) }, before: [], isHeldUp: true },
  ],
  [
    'for attempts of others to end',
    { options: { concurrency: { first: 2, retry: 1 } }, before: ['b', 'c'], isHeldUp: false },
  ],
  ['for room that all share', { options: { maxQueued: 0 }, before: [], isHeldUp: false }],
]

test.each(waits)(
  'a job that waits %s records whether its own webhook or workspace holds it up',
  (_what, wait) => {
    const queues = createDeliveryQueues<Job>({
      ...{ concurrency: { first: 10, retry: 1 }, endpointConcurrency: 2, maxSlow: 0, slowAfterMs: 60_000 },
      ...{
        maxQueued: 100,
        maxBytes: 800,
        share: () => many,
        timers: { ...systemTimers, now: () => 7 },
        scheduler: noSlots,
      },
      ...wait.options,
      due: { wakeIn: () => {} },
      deliver: () => new Promise(() => {}),
    })
    const add = (webhookId: string, perSecond?: number) => {
      const job: Job = {
        ...{ deliveryId: 'd', webhookId, workspaceId: 'ws', bytes: 0, sendBefore: 1_000 },
        queueClass: 'first',
      }
      if (queues.reserve(job, perSecond)) queues.submit(job)
      return job
    }
    for (const webhookId of wait.before) add(webhookId)
    expect(add('a', wait.perSecond).heldUpSince).toBe(wait.isHeldUp ? 7 : undefined)
  },
)
