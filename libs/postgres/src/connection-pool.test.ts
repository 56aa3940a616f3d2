import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createConnectionPool, type PooledConnection } from './connection-pool.js'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('replaces a connection whose server does not answer while it is reset', async () => {
  const opened: PooledConnection[] = []
  const pool = createConnectionPool({
    ...{ max: 1, maxEach: 1, idleMs: 60_000 },
    nameOf: (key: string) => key,
    groupOf: (key) => key,
    async open() {
      const connection = {
        isOpen: () => true,
        reset: () => new Promise<boolean>(() => {}),
        close: async () => {},
      }
      opened.push(connection)
      return connection
    },
  })
  const released = pool.release('one', await pool.acquire('one'))
  const second = pool.acquire('one')
  jest.advanceTimersByTime(5_000)
  expect(await second).toBe(opened[1])
  expect(opened).toHaveLength(2)
  await released
  await pool.close()
})
