import { expect, test } from '@jest/globals'
import { createOutboxPositions } from './outbox-positions.js'

test('the floor stays below the lowest outstanding position, whatever the order of completion', () => {
  const positions = createOutboxPositions(10)
  for (const position of [11, 14, 12, 13]) expect(positions.learn(position)).toBe(true)
  expect(positions.learn(12)).toBe(false)
  positions.settle(20)
  expect([positions.floor, positions.outstanding]).toEqual([10, 4])
  positions.done(12)
  positions.done(13)
  expect([positions.floor, positions.outstanding]).toEqual([10, 2])
  positions.done(11)
  expect([positions.floor, positions.outstanding]).toEqual([13, 1])
  positions.done(14)
  expect([positions.floor, positions.outstanding]).toEqual([20, 0])
})

test('the floor never passes a position where a commit may still appear', () => {
  const positions = createOutboxPositions(0)
  positions.learn(2)
  positions.done(2)
  expect(positions.floor).toBe(0)
  expect(positions.learn(1)).toBe(true)
  positions.settle(2)
  expect([positions.floor, positions.unsettled]).toEqual([0, false])
  positions.done(1)
  expect(positions.floor).toBe(2)
})

test('computes the correct floor for many positions in any order', () => {
  const positions = createOutboxPositions(0)
  const all = Array.from({ length: 2_000 }, (_, at) => at + 1)
  const shuffled = all.toSorted((left, right) => ((left * 7_919) % 2_003) - ((right * 7_919) % 2_003))
  for (const position of shuffled) positions.learn(position)
  positions.settle(2_000)
  const done = new Set<number>()
  for (const position of shuffled.toReversed()) {
    positions.done(position)
    done.add(position)
    if (position % 97 !== 0) continue
    expect(positions.floor).toBe((all.find((one) => !done.has(one)) ?? 2_001) - 1)
  }
  expect(positions.floor).toBe(2_000)
})
