import { expect, test } from '@jest/globals'
import type { PublishAck } from '@opsplane/nats'
import type { LoggedEvent } from '../logged-events.js'
import { createRelayQueue } from './relay-queue.js'

interface Sent {
  event: LoggedEvent
  acknowledge(): void
  fail(): void
}

const event = (position: number, streamId: string, version: number, workspaceId = 'ws_1'): LoggedEvent => ({
  position: String(position),
  id: `evt_${position}`,
  streamId,
  version,
  type: 'ticket.opened',
  workspaceId,
  environment: 'production',
  actor: '{}',
  resource: '{}',
  data: '{}',
  requestId: null,
  causationId: null,
  source: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  trace: null,
})

/** A queue over an in-memory log, whose publishes the test acknowledges. */
function queueOver(log: LoggedEvent[] = []) {
  const sent: Sent[] = []
  const order: number[] = []
  const loaded: number[] = []
  const known = new Map(log.map((one) => [Number(one.position), one]))
  let sequence = 0
  const queue = createRelayQueue({
    start: 0,
    mayPublish: () => true,
    send: (one) =>
      new Promise<PublishAck>((resolve, reject) => {
        order.push(Number(one.position))
        sent.push({
          event: one,
          acknowledge: () => resolve({ sequence: ++sequence, duplicate: false }),
          fail: () => reject(new Error('not now')),
        })
      }),
    load: async (positions) => {
      loaded.push(...positions)
      return positions.flatMap((position) => known.get(position) ?? [])
    },
    onDone: () => {},
    onFailure: () => {},
  })
  /** Lets all pending asynchronous work finish. */
  const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  return { queue, known, sent, order, loaded, settled }
}

const positionsOf = (log: LoggedEvent[]) => log.map(({ position }) => Number(position))

test('each event of an aggregate waits for the acknowledgement of the one before', async () => {
  const log = [1, 2, 3].map((n) => event(n, 'a', n))
  const { queue, sent, order, settled } = queueOver(log)
  queue.learn('ws_1', positionsOf(log))
  await settled()
  expect(order).toEqual([1])
  sent[0]?.acknowledge()
  await settled()
  expect(order).toEqual([1, 2])
  expect(queue.positions.outstanding).toBe(2)
})

test('an aggregate with thousands of events does not delay others of its workspace', async () => {
  const hot = Array.from({ length: 5_000 }, (_, at) => event(at + 1, 'hot', at + 1))
  const others = Array.from({ length: 100 }, (_, at) => event(5_001 + at, `cold-${at}`, 1))
  const { queue, sent, order, settled } = queueOver([...hot, ...others])
  queue.learn('ws_1', positionsOf([...hot, ...others]))
  // The first event of the hot aggregate is not acknowledged until all others are published.
  for (let round = 0; round < 200; round++) await settled()
  expect(order).toHaveLength(101)
  expect(order[0]).toBe(1)
  for (let at = 0; at < sent.length; at++) {
    sent[at]?.acknowledge()
    await settled()
  }
  expect(order.filter((position) => position <= 5_000)).toEqual(positionsOf(hot))
})

test('workspaces take turns: the backlog of one delays another by only a few events', async () => {
  const backlog = Array.from({ length: 2_000 }, (_, at) => event(at + 1, `import-${at}`, 1))
  const late = event(2_001, 'late', 1, 'ws_2')
  const { queue, sent, order, settled } = queueOver([...backlog, late])
  queue.learn('ws_1', positionsOf(backlog))
  await settled()
  const before = order.length
  queue.learn('ws_2', [2_001])
  for (let at = 0; at < 300; at++) {
    sent[at]?.acknowledge()
    await settled()
  }
  const place = order.indexOf(2_001)
  expect(place).toBeGreaterThanOrEqual(before)
  expect(place - before).toBeLessThan(40)
})

test('limits the bytes of events in memory, however large the events are', async () => {
  const bytes = 1024 * 1024
  const large = Array.from({ length: 600 }, (_, at) => ({
    ...event(at + 1, `large-${at}`, 1, `ws_${at % 20}`),
    data: 'x'.repeat(bytes),
  }))
  const { queue, sent, loaded, settled } = queueOver(large)
  for (const one of large) queue.learn(one.workspaceId, [Number(one.position)])
  let most = 0
  for (let done = 0; done < large.length; done++) {
    while (sent.length <= done) await settled()
    // The first batch is as large as a batch of small events, because the size of events is not known yet.
    if (done > 256) most = Math.max(most, loaded.length - done)
    sent[done]?.acknowledge()
    await settled()
  }
  expect(most).toBeLessThanOrEqual(40)
  expect(loaded.length).toBe(600)
})

test('a failed event blocks later events of its aggregate, and is retried', async () => {
  const log = [event(1, 'a', 1), event(2, 'a', 2), event(3, 'b', 1), event(4, 'b', 2)]
  const { queue, sent, order, settled } = queueOver(log)
  queue.learn('ws_1', positionsOf(log))
  await settled()
  sent[0]?.fail()
  sent[1]?.acknowledge()
  while (order.length < 4) await settled()
  expect(order).toEqual([1, 3, 4, 1])
})

test('publishes an offered event only once, and only if it is known to be the next of its aggregate', async () => {
  const { queue, sent, order, loaded, settled } = queueOver([])
  expect(queue.offer(event(1, 'a', 1))).toBe(true)
  expect(queue.offer(event(2, 'a', 2))).toBe(true)
  expect(queue.offer(event(7, 'a', 4))).toBe(false)
  expect(queue.offer(event(8, 'b', 2))).toBe(false)
  expect(order).toEqual([1])
  sent[0]?.acknowledge()
  await settled()
  sent[1]?.acknowledge()
  await settled()
  expect(queue.offer(event(3, 'a', 3))).toBe(true)
  queue.learn('ws_1', [1, 2, 3, 7])
  await settled()
  sent[2]?.acknowledge()
  await settled()
  expect(order).toEqual([1, 2, 3, 7])
  // The event that was offered too early is cached, and need not be loaded.
  expect(loaded).toEqual([])
})

test('does not wait for events that are gone from the outbox', async () => {
  const { queue, order, settled } = queueOver([event(2, 'a', 1)])
  queue.learn('ws_1', [1, 2])
  queue.positions.settle(2)
  await settled()
  expect(order).toEqual([2])
  expect(queue.positions.floor).toBe(1)
})

test('does not wait for events that are gone from within a long queue of an aggregate', async () => {
  const log = Array.from({ length: 320 }, (_, at) => event(at + 1, 'hot', at + 1))
  const { queue, known, sent, order, settled } = queueOver(log)
  queue.learn('ws_1', positionsOf(log))
  await settled()
  // More gone positions than are loaded while the first events are still waiting.
  for (let position = 17; position <= 300; position++) known.delete(position)
  for (let at = 0; at < sent.length; at++) {
    sent[at]?.acknowledge()
    await settled()
  }
  expect(order.at(-1)).toBe(320)
  expect(queue.positions.outstanding).toBe(0)
})

test('closing waits for events in flight, and publishes no more', async () => {
  const log = [event(1, 'a', 1), event(2, 'a', 2)]
  const { queue, sent, order, settled } = queueOver(log)
  queue.learn('ws_1', positionsOf(log))
  await settled()
  let isClosed = false
  const closing = queue.close().then(() => {
    isClosed = true
  })
  await settled()
  expect(isClosed).toBe(false)
  sent[0]?.acknowledge()
  await closing
  await settled()
  expect(order).toEqual([1])
})
