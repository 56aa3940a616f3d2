import { describe, expect, it } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { seededRandom } from '@opsplane/testing'
import {
  computeMaxBurst,
  type SimulatedTime,
  simulatedBookings,
  simulatedTime,
} from '../../fixture/simulated-time.js'
import { type Bookings, computeBurst, createRateLimitScheduler } from './rate-limit-scheduler.js'

const log = createLogger({ service: 'test', level: 'silent' })
const webhookId = 'wh_1'

/** A replica with jobs for one webhook; starts each as soon as its scheduler permits. */
function replica(time: SimulatedTime, book: Bookings, perSecond: number) {
  const starts: number[] = []
  const scheduler = createRateLimitScheduler({
    book,
    leaseMs: 15_000,
    now: time.now,
    after: time.after,
    onSlot: pump,
    onClosed: () => replica.closed++,
    due: { wakeIn: () => replica.opened++ },
    log,
  })
  const replica = { scheduler, waiting: 0, starts, closed: 0, opened: 0, add }
  function pump() {
    while (replica.waiting > 0 && scheduler.useSlot(webhookId, perSecond, replica.waiting)) {
      replica.waiting--
      starts.push(time.now())
    }
  }
  function add(jobs: number) {
    replica.waiting += jobs
    pump()
  }
  return replica
}

function start(perSecond: number, latency?: () => number, lateness?: () => number) {
  const time = simulatedTime(lateness)
  const bookings = simulatedBookings(time, latency)
  const begin = time.now()
  const pass = (ms: number) => time.runTo(time.now() + ms)
  return { time, bookings, begin, pass, replica: () => replica(time, bookings.book, perSecond) }
}

describe('scheduler', () => {
  it('spaces attempts evenly, as fast as the limit allows', async () => {
    const { replica, pass, begin } = start(10)
    const one = replica()
    one.add(30)
    await pass(2_000)
    // Timers fire up to a millisecond late.
    expect(one.starts.map((at) => Math.round((at - begin) / 100))).toEqual([...Array(20).keys()])
    expect(one.waiting).toBe(10)
  })

  it('never starts two attempts within less than the interval if the limit is four or less', async () => {
    const { replica, pass } = start(2)
    const one = replica()
    one.add(10)
    await pass(10_000)
    const gaps = one.starts.slice(1).map((at, index) => at - (one.starts[index] ?? 0))
    expect(gaps).toHaveLength(9)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500)
  })

  it('loses no slot of a slow schedule if booking takes half a second', async () => {
    const { replica, pass } = start(0.01, () => 500)
    const one = replica()
    one.add(2)
    await pass(1_000)
    expect(one.starts).toHaveLength(1)
    await pass(102_000)
    expect(one.starts).toHaveLength(2)
  })

  it('accumulates no slots while there is nothing to send', async () => {
    const { replica, pass, time } = start(4)
    const one = replica()
    one.add(1)
    await pass(60_000)
    one.add(5)
    await pass(100)
    expect(one.starts).toHaveLength(2)
    await pass(60_000)
    expect(one.starts).toHaveLength(6)
    expect(time.pending()).toBe(0)
  })

  it('books slots in batches', async () => {
    const { replica, pass, bookings } = start(100)
    const one = replica()
    one.add(100)
    await pass(2_000)
    expect(one.starts).toHaveLength(100)
    expect(bookings.asked).toBeLessThanOrEqual(5)
  })

  it('shares the schedule with other replicas', async () => {
    const { replica, pass } = start(20)
    const [one, other] = [replica(), replica()]
    one.add(100)
    other.add(100)
    await pass(5_000)
    const all = [...one.starts, ...other.starts]
    expect(all.length).toBeGreaterThan(95)
    expect(computeMaxBurst(all, 20)).toBeLessThanOrEqual(computeBurst(20))
    expect(Math.min(one.starts.length, other.starts.length)).toBeGreaterThan(25)
  })

  it('starts nothing while slots cannot be booked, and retries with growing delays', async () => {
    const { replica, pass, bookings } = start(10)
    bookings.away = true
    const one = replica()
    one.add(3)
    await pass(10_000)
    expect(one.starts).toEqual([])
    expect(bookings.asked).toBeLessThan(12)
    bookings.away = false
    await pass(3_000)
    expect(one.starts).toHaveLength(3)
  })

  it('closes a webhook whose next slot is further off than jobs can wait, without further requests', async () => {
    const { replica, pass, bookings } = start(0.01)
    const one = replica()
    one.add(3)
    await pass(50_000)
    expect(one.starts).toHaveLength(1)
    expect(one).toMatchObject({ closed: 1, opened: 0 })
    expect(one.scheduler.isClosed(webhookId)).toBe(true)
    expect(one.scheduler.closed()).toEqual([webhookId])
    expect(bookings.asked).toBe(2)
    await pass(52_000)
    expect(one.starts).toHaveLength(2)
    expect(one.opened).toBe(1)
  })

  it('applies a raised limit within seconds', async () => {
    const { replica, pass, bookings } = start(0.2)
    const one = replica()
    one.add(50)
    await pass(1_000)
    bookings.perSecond = 10
    await pass(10_000)
    expect(one.starts.length).toBeGreaterThan(40)
  })

  it('requests a booking before the next slot if the limit may have changed', async () => {
    const { replica, pass, bookings } = start(0.01)
    const one = replica()
    one.add(3)
    await pass(1_000)
    expect(one.scheduler.closed()).toEqual([webhookId])
    bookings.perSecond = 1_000
    one.scheduler.refresh(webhookId)
    await pass(1_000)
    expect(one).toMatchObject({ opened: 1, waiting: 0 })
    expect(one.scheduler.closed()).toEqual([])
  })

  it('releases a deleted webhook', async () => {
    const time = simulatedTime()
    const one = replica(time, async () => ({ kind: 'gone' }), 10)
    one.add(1)
    await time.runTo(time.now() + 60_000)
    expect(one).toMatchObject({ closed: 1, starts: [] })
    expect(one.scheduler.closed()).toEqual([])
    expect(time.pending()).toBe(0)
  })

  it('continues within seconds after the clock is set back', async () => {
    const { replica, pass, time } = start(20)
    const one = replica()
    one.add(1_000)
    await pass(1_110)
    const before = one.starts.length
    time.setBack(3_600_000)
    await pass(10_000)
    expect(one.starts.length - before).toBeGreaterThan(100)
  })

  it('admits only as many jobs as have slots within half of the remaining lease', () => {
    const { replica } = start(1)
    const { scheduler } = replica()
    expect([0.01, 1, 100].map(scheduler.places)).toEqual([1, 6, 675])
  })

  it('starts all attempts although timers and answers are late', async () => {
    const { replica, pass } = start(
      4,
      () => 300,
      () => 200,
    )
    const one = replica()
    one.add(10)
    await pass(60_000)
    expect(one.starts).toHaveLength(10)
    expect(computeMaxBurst(one.starts, 4)).toBeLessThanOrEqual(computeBurst(4))
  })

  it('exceeds the limit in no window and skips nothing, however late timers and answers are', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed)
      const perSecond = [0.3, 1, 3.7, 4, 4.1, 9, 40, 300][seed % 8] ?? 1
      const late = 800 * random() * random()
      const { replica, pass } = start(
        perSecond,
        () => late * random(),
        () => late * random() ** 4,
      )
      const replicas = Array.from({ length: 1 + (seed % 3) }, replica)
      for (let step = 0; step < 20; step++) {
        for (const one of replicas) if (random() < 0.4) one.add(Math.ceil(random() * perSecond))
        await pass(random() * 1_000)
      }
      await pass(600_000)
      const starts = replicas.flatMap((one) => one.starts)
      const most = computeMaxBurst(starts, perSecond)
      if (most > computeBurst(perSecond) + 1e-6) throw new Error(`seed ${seed}: ${most} at ${perSecond}/s`)
      expect(replicas.map(({ waiting }) => waiting)).toEqual(replicas.map(() => 0))
    }
  })
})
