import { expect, test } from '@jest/globals'
import { createOutboxPositions } from './outbox-positions.js'
import { readOutbox } from './outbox-reader.js'
import { trackLease } from './relay-lease.js'

test('pauses at the limit of outstanding events, and continues once there is room', async () => {
  const atOnce = 50_000
  const positions = createOutboxPositions(0)
  const outbox = Array.from({ length: 2 * atOnce }, (_, at) => at + 1)
  let [turns, looks, rests] = [0, 0, 0]
  let looksWhileFull = 0
  const held = await readOutbox({
    store: {
      edge: async () => ({ last: 2 * atOnce, writers: [], logged: 0, flushed: 0, history: '' }),
      async poll(after, limit) {
        looks++
        const found = outbox.slice(after, after + limit)
        return { isLeaseHeld: undefined, workspaces: [{ workspaceId: 'ws_1', positions: found }] }
      },
    },
    lease: trackLease({ owner: 'one', fence: '1' }, performance.now() + 3_600_000),
    queue: {
      positions,
      learn: (_, found) => {
        for (const position of found) positions.learn(position)
      },
    },
    waker: {
      async wait() {
        rests++
        if (rests !== 3) return
        looksWhileFull = looks
        for (const position of outbox.slice(0, atOnce)) positions.done(position)
      },
      pause: async () => {},
    },
    ended: () => ++turns > 20 || rests > 5,
    onRenewed: () => {},
    maxWaiting: atOnce,
  })
  expect(held).toBe(true)
  expect(looksWhileFull).toBe(1)
  expect(rests).toBeGreaterThan(5)
  expect(positions.knows(2 * atOnce)).toBe(true)
})

test('does not pause once its term has ended during a poll, as the next term may be waiting by then', async () => {
  let [isOver, rests] = [false, 0]
  const held = await readOutbox({
    store: {
      edge: async () => ({ last: 0, writers: [], logged: 0, flushed: 0, history: '' }),
      async poll() {
        isOver = true
        return { isLeaseHeld: undefined, workspaces: [] }
      },
    },
    lease: trackLease({ owner: 'one', fence: '1' }, performance.now() + 3_600_000),
    queue: { positions: createOutboxPositions(0), learn: () => {} },
    waker: { wait: async () => void rests++, pause: async () => {} },
    ended: () => isOver,
    onRenewed: () => {},
  })
  expect(held).toBe(true)
  expect(rests).toBe(0)
})

const open8 = { last: 8, writers: ['since'], logged: 9, flushed: 9, history: 'after' }
test.each([
  ['has looked in between', [{ last: 6, writers: [], logged: 6, flushed: 6, history: 'after' }], 6],
  ['has not', [], 0],
])(
  'does not settle positions that Postgres reissues after a crash: a reader that %s',
  async (_, between, settled) => {
    const positions = createOutboxPositions(0)
    const edges = [
      { last: 8, writers: ['before'], logged: 8, flushed: 6, history: 'before' },
      ...between,
      open8,
    ]
    let [now, turns] = [0, 0]
    const held = await readOutbox({
      store: {
        edge: async () => edges.shift() ?? open8,
        poll: async () => ({ isLeaseHeld: undefined, workspaces: [{ workspaceId: 'ws_1', positions: [9] }] }),
      },
      lease: trackLease({ owner: 'one', fence: '1' }, performance.now() + 3_600_000),
      queue: { positions, learn: (_, found) => void found.map((position) => positions.learn(position)) },
      waker: { wait: async () => {}, pause: async () => {} },
      ended: () => ++turns > 20,
      onRenewed: () => {},
      timers: {
        timeOrigin: 0,
        now: () => {
          now += 300
          return now
        },
      },
    })
    expect(held).toBe(true)
    expect(positions.settled).toBe(settled)
  },
)
