import { describe, expect, test } from '@jest/globals'
import { waitFor } from './wait-for.js'

describe('waitFor', () => {
  test('returns the first truthy value', async () => {
    let calls = 0

    const value = await waitFor(() => ++calls === 3 && 'third', { intervalMs: 1 })

    expect(value).toBe('third')
    expect(calls).toBe(3)
  })

  test('takes an error for not yet', async () => {
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

  test('names what was missing and the last value', async () => {
    const waiting = waitFor(() => undefined, { timeoutMs: 10, intervalMs: 1, message: 'the delivery' })

    await expect(waiting).rejects.toThrow('Waited 10 ms for the delivery; last value: undefined')
  })

  test('shows the last error and keeps it as the cause', async () => {
    const failure = new Error('no rows')
    const waiting = waitFor(() => Promise.reject(failure), { timeoutMs: 10, intervalMs: 1 })

    await expect(waiting).rejects.toMatchObject({
      message: 'Waited 10 ms for the condition; last error: no rows',
      cause: failure,
    })
  })
})
