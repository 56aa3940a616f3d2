import { expect, test } from '@jest/globals'
import { createSlices, createTurns } from './slices.js'

/** Counts the event-loop turns until everything is done. */
async function turnsUntil(done: Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  await done
  over = true
  return turns
}

test('runs simultaneous work in order, with event loop turns for other work in between', async () => {
  // Each piece of work uses up a slice.
  const turn = createTurns(0)
  const done: number[] = []
  const all = Promise.all(Array.from({ length: 20 }, (_, at) => turn(() => done.push(at))))
  expect(done.length).toBeLessThanOrEqual(1)
  expect(await turnsUntil(all)).toBeGreaterThan(10)
  expect(done).toEqual(Array.from({ length: 20 }, (_, at) => at))
})

test('runs work that fits into a slice immediately', () => {
  const turn = createTurns(60_000)
  const done: number[] = []
  for (let at = 0; at < 20; at++) void turn(() => done.push(at))
  expect(done).toHaveLength(20)
})

test('rejects work that fails, and still runs all other work', async () => {
  const turn = createTurns(0)
  const settled = await Promise.allSettled(
    Array.from({ length: 6 }, (_, at) =>
      turn(() => {
        if (at % 2 === 1) throw new Error(`no ${at}`)
        return at
      }),
    ),
  )
  expect(settled.map(({ status }) => status)).toEqual(
    Array.from({ length: 6 }, (_, at) => (at % 2 === 1 ? 'rejected' : 'fulfilled')),
  )
})

test('long-running tasks share one slice per event loop turn', async () => {
  let steps = 0
  let largestTurn = 0
  let over = false
  const count = () => {
    largestTurn = Math.max(largestTurn, steps)
    steps = 0
    if (!over) setImmediate(count)
  }
  const work = async () => {
    const slice = createSlices(0)
    for (let step = 0; step < 5; step++) {
      steps++
      await slice()
    }
  }
  const done = Promise.all(Array.from({ length: 10 }, work))
  // The first step of each work runs when it is called.
  steps = 0
  setImmediate(count)
  await done
  over = true
  expect(largestTurn).toBeLessThanOrEqual(2)
  expect(await turnsUntil(Promise.all([work(), work()]))).toBeGreaterThanOrEqual(8)
})
