import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { systemTimers } from '@opsplane/runtime'
import { createDeliveryQueues, type EndpointHealth, type Job, type QueuesOptions } from './delivery-queues.js'

function start(options: Partial<QueuesOptions<Job>> = {}) {
  const running: { job: Job; end: (health: EndpointHealth) => Promise<void> }[] = []
  let rooms = 0
  const queues = createDeliveryQueues<Job>({
    concurrency: { first: 4, retry: 2 },
    maxSlow: 0,
    slowAfterMs: 60_000,
    endpointConcurrency: 2,
    maxQueued: 1_000,
    maxBytes: 800,
    timers: { ...systemTimers, now: () => 0 },
    scheduler: slots(),
    due: { wakeIn: () => rooms++ },
    share: () => ({ attempts: 100, slow: 100, queued: 1_000, bytes: 10_000 }),
    ...options,
    deliver: (job) =>
      new Promise((resolve) => {
        const end = async (health: EndpointHealth) => {
          running.splice(running.indexOf(entry), 1)
          resolve(health)
          await turn()
        }
        const entry = { job, end }
        running.push(entry)
      }),
  })
  let made = 0
  const add = (webhookId: string, { perSecond, ...changes }: Partial<Job> & { perSecond?: number } = {}) => {
    const { bytes = 0, workspaceId = 'ws' } = changes
    if (!queues.reserve({ webhookId, workspaceId, bytes }, perSecond)) return false
    const job = {
      deliveryId: `d${++made}`,
      webhookId,
      workspaceId,
      bytes,
      sendBefore: 1,
      queueClass: 'first' as const,
    }
    queues.submit({ ...job, ...changes })
    return true
  }
  return { queues, running, add, webhooks: () => running.map(({ job }) => job.webhookId), rooms: () => rooms }
}

/** A manual scheduler with `places` places: `free` slots are available to any webhook. */
function slots(places = 100) {
  const closed = new Set<string>()
  const scheduler = {
    free: 0,
    asked: 0,
    closed: () => [...closed],
    isClosed: (webhookId: string) => closed.has(webhookId),
    close: (webhookId: string) => closed.add(webhookId),
    places: () => places,
    useSlot: () => {
      scheduler.asked++
      if (scheduler.free === 0) return false
      scheduler.free--
      return true
    },
  }
  return scheduler
}

describe('the queue of a webhook with a rate limit', () => {
  const limited = { perSecond: 5 }

  it('waits for a slot for each job, while jobs of other webhooks run', () => {
    const scheduler = slots()
    const { add, queues, webhooks } = start({ scheduler })
    for (let n = 0; n < 3; n++) add('slow', limited)
    add('quick')
    expect(webhooks()).toEqual(['quick'])
    scheduler.free = 1
    queues.resume('slow')
    expect(webhooks()).toEqual(['quick', 'slow'])
    add('other')
    expect(webhooks()).toEqual(['quick', 'slow', 'other'])
    expect(scheduler.free).toBe(0)
  })

  it('requests no slot for a webhook without a limit', () => {
    const scheduler = slots()
    const { add, webhooks } = start({ scheduler })
    add('free')
    add('free', { queueClass: 'retry' })
    expect(webhooks()).toEqual(['free', 'free'])
    expect(scheduler.asked).toBe(0)
  })

  it('alternates slots between first attempts and retries', async () => {
    const scheduler = slots()
    const { add, queues, running } = start({ scheduler, concurrency: { first: 9, retry: 9 } })
    for (let n = 0; n < 3; n++) add('a', limited)
    for (let n = 0; n < 3; n++) add('a', { ...limited, queueClass: 'retry' })
    const served: string[] = []
    for (let n = 0; n < 6; n++) {
      scheduler.free = 1
      queues.resume('a')
      served.push(...running.map(({ job }) => job.queueClass))
      await running[0]?.end('healthy')
    }
    expect(served).toEqual(['first', 'retry', 'first', 'retry', 'first', 'retry'])
  })

  it('uses no slot for a job whose lease has expired', () => {
    const scheduler = slots()
    const { add, queues, webhooks } = start({ scheduler })
    add('a', { ...limited, sendBefore: -1 })
    expect(scheduler.asked).toBe(0)
    scheduler.free = 1
    add('a', limited)
    expect(webhooks()).toEqual(['a'])
    expect(queues.full()).toEqual([])
  })

  it('admits only jobs that can wait for their slots in memory, and more once half of them have left', () => {
    const scheduler = slots(4)
    const { add, queues, rooms } = start({ scheduler })
    const added = () => add('a', limited)
    expect([added(), added(), added(), added(), added()]).toEqual([true, true, true, true, false])
    const use = () => {
      scheduler.free = 1
      queues.resume('a')
    }
    use()
    expect(queues.full()).toEqual(['a'])
    expect(added()).toBe(false)
    expect(rooms()).toBe(0)
    use()
    expect(queues.full()).toEqual([])
    expect(rooms()).toBe(1)
    expect(added()).toBe(true)
  })

  it('admits nothing while the next slot is far off', () => {
    const scheduler = slots()
    const { add, queues } = start({ scheduler })
    scheduler.close('b')
    expect(add('b', limited)).toBe(false)
    expect(queues.full()).toEqual(['b'])
  })
})

describe('the scheduling of deliveries', () => {
  it('limits the concurrent attempts of a webhook to its share', () => {
    const { add, webhooks } = start()
    for (let n = 0; n < 10; n++) add('a')
    expect(webhooks()).toEqual(['a', 'a'])
    add('b')
    expect(webhooks()).toEqual(['a', 'a', 'b'])
  })

  it('serves webhooks in turn', async () => {
    const { add, webhooks, running } = start({ concurrency: { first: 1, retry: 1 } })
    for (const webhookId of ['a', 'a', 'a', 'b', 'c']) add(webhookId)
    const order: string[] = []
    while (running.length > 0) {
      order.push(...webhooks())
      await running[0]?.end('healthy')
    }
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a'])
  })

  it('keeps retries in a separate queue class', () => {
    const { add, webhooks } = start({ concurrency: { first: 1, retry: 1 } })
    add('a', { queueClass: 'retry' })
    add('b', { queueClass: 'retry' })
    add('c')
    expect(webhooks()).toEqual(['a', 'c'])
  })

  it('halves the share of an unhealthy endpoint, and increases the share of a healthy one', async () => {
    const { add, webhooks, running } = start({ endpointConcurrency: 4, concurrency: { first: 9, retry: 1 } })
    for (let n = 0; n < 20; n++) add('a')
    expect(webhooks()).toHaveLength(4)
    await running[0]?.end('unhealthy')
    await running[0]?.end('unhealthy')
    await running[0]?.end('unhealthy')
    expect(webhooks()).toHaveLength(1)
    await running[0]?.end('healthy')
    expect(webhooks()).toHaveLength(2)
  })

  it('rejects jobs of a webhook whose queue is full, and reports when there is room again', async () => {
    const { add, queues, running, rooms } = start()
    let taken = 0
    while (add('a')) taken++
    expect(taken).toBeLessThan(30)
    expect(queues.full()).toEqual(['a'])
    expect(add('b')).toBe(true)
    while (queues.full().length > 0 || rooms() === 0) await running[0]?.end('healthy')
    expect(rooms()).toBe(1)
    expect(add('a')).toBe(true)
  })

  it('limits the number of queued jobs', () => {
    const { add, queues } = start({ maxQueued: 3, concurrency: { first: 1, retry: 1 } })
    expect(['a', 'b', 'c', 'd'].map((webhookId) => add(webhookId))).toEqual([true, true, true, true])
    expect(add('e')).toBe(false)
    expect(queues.room().jobs).toBe(0)
  })

  it.each<[string, (of: Pick<ReturnType<typeof start>, 'add' | 'queues'>) => unknown]>([
    ['a webhook was turned away', ({ add }) => add('d')],
    ['it was said that there is none', ({ queues }) => queues.room()],
  ])(
    'reports room when half of the places for jobs are free, after %s for lack of a place',
    async (_, ask) => {
      const { add, queues, running, rooms } = start({ maxQueued: 2, concurrency: { first: 1, retry: 1 } })
      expect(['a', 'b', 'c'].map((webhookId) => add(webhookId))).toEqual([true, true, true])
      ask({ add, queues })
      expect(rooms()).toBe(0)
      await running[0]?.end('healthy')
      expect(rooms()).toBe(1)
      expect(add('d')).toBe(true)
    },
  )

  it('limits the queued bytes, and those of one webhook to an eighth or one body', async () => {
    const { add, running, rooms, queues } = start()
    expect([add('a', { bytes: 60 }), add('a', { bytes: 60 })]).toEqual([true, false])
    expect([add('b', { bytes: 500 }), add('c', { bytes: 300 })]).toEqual([true, false])
    expect(queues.room().bytes).toBe(240)
    expect(add('d', { bytes: 240 })).toBe(true)
    expect(queues.room().bytes).toBe(0)
    await running[1]?.end('healthy')
    expect(rooms()).toBeGreaterThan(0)
    expect(add('c', { bytes: 300 })).toBe(true)
    for (const end of running.map((entry) => entry.end)) await end('healthy')
    expect(queues.room().bytes).toBe(800)
  })

  it('treats a webhook as full after a body that did not fit, until half of its share is free', async () => {
    const { add, running, rooms, queues } = start()
    expect([add('a', { bytes: 30 }), add('a', { bytes: 30 }), add('a', { bytes: 50 })]).toEqual([
      true,
      true,
      false,
    ])
    expect(queues.full()).toEqual(['a'])
    expect(add('a', { bytes: 1 })).toBe(false)
    expect(rooms()).toBe(0)
    await running[0]?.end('healthy')
    expect(queues.full()).toEqual([])
    expect(rooms()).toBe(1)
    expect(add('a', { bytes: 50 })).toBe(true)
  })

  it('does not send a job whose lease has expired', () => {
    const { add, webhooks } = start()
    add('a', { sendBefore: -1 })
    add('a')
    expect(webhooks()).toEqual(['a'])
  })

  it('returns queued jobs on a discard, and waits for attempts in flight on a stop', async () => {
    const { add, queues, running } = start()
    for (let n = 0; n < 5; n++) add('a')
    add('b')
    expect(queues.discard('a').map(({ deliveryId }) => deliveryId)).toEqual(['d3', 'd4', 'd5'])
    let stopped = false
    const stopping = queues.stop().then((left) => {
      stopped = true
      return left
    })
    expect(add('c')).toBe(false)
    await turn()
    expect(stopped).toBe(false)
    while (running.length > 0) await running[0]?.end('healthy')
    expect(await stopping).toEqual([])
  })

  it('does not count slow attempts towards the concurrency', async () => {
    const { add, webhooks } = start({ concurrency: { first: 1, retry: 1 }, maxSlow: 1, slowAfterMs: 1 })
    add('slow')
    add('next')
    while (webhooks().length < 2) await turn()
    expect(webhooks()).toEqual(['slow', 'next'])
  })

  it('starts jobs of healthy endpoints immediately while slow ones occupy the queue class, up to maxSlow', async () => {
    const concurrency = { first: 4, retry: 1 }
    const { add, webhooks, running } = start({ concurrency, maxSlow: 4, slowAfterMs: 1 })
    const end = async (webhookId: string) =>
      running.find(({ job }) => job.webhookId === webhookId)?.end('healthy')
    for (const tarpit of ['t1', 't2']) for (let n = 0; n < 9; n++) add(tarpit)
    const tarpits = ['t1', 't1', 't2', 't2']
    expect(webhooks()).toEqual(tarpits)

    // The queue class has four places: when four others run, the first four attempts have stopped counting against it.
    const others = ['o1', 'o2', 'o3', 'o4']
    for (const other of others) add(other)
    while (webhooks().length < 8) await turn()
    for (const other of others) await end(other)
    for (let n = 0; n < 20; n++) {
      add('healthy')
      expect(webhooks()).toEqual([...tarpits, 'healthy'])
      await end('healthy')
    }

    // No further attempt may be counted as slow, so the queue class is really full now.
    for (const other of others) add(other)
    add('healthy')
    await turn()
    expect(webhooks()).toEqual([...tarpits, ...others])
    await end('o1')
    expect(webhooks()).toEqual([...tarpits, 'o2', 'o3', 'o4', 'healthy'])
  })
})

describe('the scheduling of queues of several workspaces', () => {
  const share = () => ({ attempts: 2, slow: 1, queued: 5, bytes: 100 })
  const theirs = { workspaceId: 'theirs' }

  it('limits a workspace to its share of attempts, however many webhooks it has', async () => {
    const { add, webhooks, running } = start({ share, concurrency: { first: 3, retry: 2 } })
    for (const webhookId of ['a', 'b', 'c', 'd']) add(webhookId)
    expect(webhooks()).toEqual(['a', 'b'])
    add('x', theirs)
    expect(webhooks()).toEqual(['a', 'b', 'x'])
    await running[0]?.end('unhealthy')
    expect(webhooks()).toEqual(['b', 'x', 'c'])
    await running[0]?.end('healthy')
    await running[0]?.end('healthy')
    expect(webhooks()).toEqual(['c', 'd'])
  })

  describe('reassigns the place of an ended attempt to another webhook', () => {
    const one = { share: () => ({ ...share(), attempts: 1 }) }

    it('if the next webhook has no slot of its rate limit', async () => {
      const { add, webhooks, running } = start(one)
      add('a')
      add('b', { perSecond: 5 })
      add('c')
      await running[0]?.end('healthy')
      expect(webhooks()).toEqual(['c'])
    })

    it('if the next webhook waits for a place among retries', async () => {
      const { add, webhooks, running } = start(one)
      for (const webhookId of ['r1', 'r2']) add(webhookId, { queueClass: 'retry' })
      for (const webhookId of ['a', 'c']) add(webhookId)
      await running[1]?.end('healthy')
      expect(webhooks()).toEqual(['r1', 'c'])
    })

    it('if the queued jobs of the next webhook were discarded', async () => {
      const { add, queues, webhooks, running } = start(one)
      for (const webhookId of ['a', 'b', 'c']) add(webhookId)
      queues.discard('b')
      await running[0]?.end('healthy')
      expect(webhooks()).toEqual(['c'])
    })

    it('if the jobs of the next webhook are discarded while all places of the process are occupied', async () => {
      const { add, queues, webhooks, running } = start({ ...one, concurrency: { first: 2, retry: 1 } })
      for (const webhookId of ['a', 'b', 'c']) add(webhookId)
      for (const workspaceId of ['w1', 'w2']) add(`of ${workspaceId}`, { workspaceId })
      await running[0]?.end('healthy')
      expect(webhooks()).toEqual(['of w1', 'of w2'])
      queues.discard('b')
      await running[0]?.end('healthy')
      expect(webhooks()).toEqual(['of w2', 'c'])
    })
  })

  it('limits the slow attempts of a workspace that do not count towards the concurrency', async () => {
    const { add, webhooks } = start({
      share,
      concurrency: { first: 4, retry: 2 },
      maxSlow: 100,
      slowAfterMs: 1,
    })
    for (let n = 0; n < 5; n++) add(`tarpit-${n}`)
    while (webhooks().length < 3) await turn()
    add('x', theirs)
    expect(webhooks()).toContain('x')
    for (let n = 0; n < 1_000; n++) await turn()
    expect(webhooks().filter((webhookId) => webhookId !== 'x')).toHaveLength(3)
  })

  it('limits the deliveries of a workspace in memory to its share, and reports when there is room again', async () => {
    const { add, queues, running, rooms } = start({ share, concurrency: { first: 4, retry: 2 } })
    const added = () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((webhookId) => add(webhookId))
    expect(added()).toEqual([true, true, true, true, true, true, true, false])
    expect(queues.full()).toContain('h')
    expect(add('x', theirs)).toBe(true)
    while (queues.full().includes('h')) await running[0]?.end('healthy')
    expect(rooms()).toBeGreaterThan(0)
    expect(add('h')).toBe(true)
    expect([add('i', { bytes: 100 }), add('j', { bytes: 1 })]).toEqual([true, false])
  })
})
