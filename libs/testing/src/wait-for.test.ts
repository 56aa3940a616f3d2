import { describe, expect, test } from '@jest/globals'
import { pauseAfter, waitFor, waitWithin } from './wait-for.js'

test.each([
  [0, 20],
  [400, 20],
  [1_000, 50],
  [60_000, 250],
])('after a wait of %d ms the next check follows in %d ms', (waitedMs, pauseMs) => {
  expect(pauseAfter(waitedMs)).toBe(pauseMs)
})

describe('waitFor', () => {
  test('returns the first truthy value', async () => {
    let calls = 0

    const value = await waitFor(() => ++calls === 3 && 'third', { intervalMs: 1 })

    expect(value).toBe('third')
    expect(calls).toBe(3)
  })

  test('tries again after an error', async () => {
    let calls = 0

    const value = await waitFor(
      async () => {
        if (++calls < 3) throw new Error('too early')
        return 'ready'
      },
      { intervalMs: 1 },
    )

    expect(value).toBe('ready')
  })

  test('reports the missing condition, the last value and the duration of the wait', async () => {
    const waiting = waitWithin(10, () => undefined, { intervalMs: 1, message: 'the delivery' })

    await expect(waiting).rejects.toThrow(/^Waited \d{2,} ms for the delivery; last value: undefined$/)
  })

  test('reports the last error and keeps it as the cause', async () => {
    const failure = new Error('no rows')
    const waiting = waitWithin(10, () => Promise.reject(failure), { intervalMs: 1 })

    await expect(waiting).rejects.toMatchObject({
      message: expect.stringMatching(/^Waited \d{2,} ms for the condition; last error: no rows$/),
      cause: failure,
    })
  })

  test('ends when the waiting test ends', async () => {
    const handlers = Reflect.get(globalThis, Symbol.for('EVENT_HANDLERS')) as ((event: object) => void)[]
    const others = [...handlers]
    const waiting = waitFor(() => undefined, { intervalMs: 1 })
    const [ofWait] = handlers.filter((handler) => !others.includes(handler))
    ofWait?.({ name: 'test_fn_success' })
    ofWait?.({ name: 'test_fn_failure' })

    await expect(waiting).rejects.toThrow('The test ended after a wait of')
    expect(handlers).toEqual(others)
  })
})
