import { describe, expect, test } from '@jest/globals'
import { createRefillPace } from './refill-pace.js'

/**
 * Refills whenever a refill is due, for the given time, and finds the stream in the given state a quarter of a
 * second later.
 */
function refillsOf({ forMs, keeps }: { forMs: number; keeps(nowMs: number): boolean }) {
  const pace = createRefillPace()
  const at: number[] = []
  const failed: number[] = []
  for (let nowMs = 0; nowMs <= forMs; nowMs += 250) {
    if (at.length > 0 && keeps(nowMs)) {
      pace.sound(nowMs)
    } else if (pace.lost('one', nowMs) === 0) {
      pace.refilled('one', nowMs)
      at.push(nowMs)
    }
    failed.push(pace.failed)
  }
  return { at, failed: failed.at(-1), pace }
}

describe('refills of a stream', () => {
  test('back off to one a minute while the stream keeps nothing', () => {
    const { at, failed } = refillsOf({ forMs: 600_000, keeps: () => false })
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0))
    expect(gaps.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000])
    expect(gaps.slice(7).every((gap) => gap === 60_000)).toBe(true)
    expect(failed).toBe(at.length)
  })

  test('start again without a backoff once the stream has kept one', () => {
    const { at, failed, pace } = refillsOf({ forMs: 60_000, keeps: (nowMs) => nowMs > 5_000 })
    expect(at).toEqual([0, 1_000, 3_000])
    expect(failed).toBe(0)
    expect(pace.lost('one', 61_000)).toBe(0)
  })

  test('keep their backoff when the stream only seems intact soon after a refill', () => {
    const { at } = refillsOf({ forMs: 16_000, keeps: (nowMs) => nowMs % 2_000 === 0 })
    expect(at.length).toBeLessThanOrEqual(5)
  })

  test('start without a delay for a different stream, once for each', () => {
    const pace = createRefillPace()
    pace.refilled('one', 0)
    expect(pace.lost('one', 100)).toBe(900)
    expect(pace.lost('other', 100)).toBe(0)
    pace.refilled('other', 100)
    expect(pace.lost('other', 200)).toBe(1_900)
    expect(pace.failed).toBe(2)
  })
})
