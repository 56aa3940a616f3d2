import { expect, test } from '@jest/globals'
import { createHeartbeats } from './heartbeats.js'

/** Heartbeats on a timer that the test fires. */
function started() {
  let timer: { act(): void; ms: number } | undefined
  const heartbeats = createHeartbeats(15_000, {
    setTimeout: (act, ms) => {
      timer = { act, ms }
      return { unref: () => {} }
    },
    clearTimeout: () => {
      timer = undefined
    },
  })
  let passedMs = 0
  return {
    ...heartbeats,
    isWaiting: () => timer !== undefined,
    /** Fires timers until an interval has passed. */
    passInterval() {
      passedMs = 0
      while (timer && passedMs + timer.ms <= 15_000) {
        const { act, ms } = timer
        timer = undefined
        passedMs += ms
        act()
      }
    },
  }
}

test('calls each listener once per interval, spread over the interval', () => {
  const { add, passInterval } = started()
  const calls: number[] = []
  for (let n = 0; n < 40; n++) add(() => calls.push(n))
  passInterval()
  expect([...calls].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n))
  expect(calls.slice(0, 3)).not.toEqual([0, 1, 2])
})

test('does not call removed listeners, and stops the timer after the last one', () => {
  const { add, passInterval, isWaiting } = started()
  const calls: string[] = []
  const leave = add(() => calls.push('left'))
  const leaveLater = add(() => calls.push('stays'))
  expect(isWaiting()).toBe(true)
  leave()
  passInterval()
  expect(calls).toEqual(['stays'])
  leaveLater()
  passInterval()
  expect([calls, isWaiting()]).toEqual([['stays'], false])
})

test('calls all listeners on shutdown', () => {
  const { add, all } = started()
  const calls: string[] = []
  for (const name of ['a', 'b']) add(() => calls.push(name))
  all()
  expect(calls.sort()).toEqual(['a', 'b'])
})
