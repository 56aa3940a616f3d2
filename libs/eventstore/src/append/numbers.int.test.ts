import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openTestStore, type TestStore } from '../fixture/test-database.js'
import { createNumbers } from './numbers.js'

describe('numbers', () => {
  let testStore: TestStore
  beforeAll(async () => {
    testStore = await openTestStore()
  })
  afterAll(() => testStore.close())

  test('are unique and without gaps under 500 concurrent callers on two replicas', async () => {
    const replicas = [testStore.replica(), testStore.replica()]
    const numbers = await Promise.all(
      Array.from({ length: 250 }, () =>
        replicas.map(({ store }) => store.numbers.next('ws_1', 'incident')),
      ).flat(),
    )
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1))
  })

  test('increase separately for each workspace and kind', async () => {
    const { numbers } = testStore.replica().store
    const own = [await numbers.next('ws_2', 'incident'), await numbers.next('ws_2', 'incident')]
    expect(own).toEqual([1, 2])
    expect(await Promise.all([numbers.next('ws_2', 'change'), numbers.next('ws_3', 'incident')])).toEqual([
      1, 1,
    ])
  })

  describe('reserving numbers ahead', () => {
    const start = () => {
      const { planned } = testStore.database
      let now = 1_000
      let statements = 0
      const counted = new Proxy(planned, {
        get(sql, name: keyof typeof planned) {
          if (name === 'unsafe') statements++
          return sql[name]
        },
      })
      const numbers = createNumbers(counted, () => now)
      return {
        statements: () => statements,
        async next(kind: string, afterMs: number) {
          now += afterMs
          return numbers.next('ws_4', kind, { ahead: true })
        },
      }
    }
    const taken = async (next: () => Promise<number>, count: number) => {
      const numbers: number[] = []
      while (numbers.length < count) numbers.push(await next())
      return numbers
    }

    test('reserves blocks for frequent callers, without gaps', async () => {
      const { next, statements } = start()
      expect(await taken(() => next('fast', 4), 200)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
      expect(statements()).toBeLessThan(30)
    })

    test('reserves one number at a time for infrequent callers', async () => {
      const [one, other] = [start(), start()]
      const both = async () => [await one.next('seldom', 110), await other.next('seldom', 110)]
      expect([await both(), await both(), await both()]).toEqual([
        [1, 2],
        [3, 4],
        [5, 6],
      ])
    })

    test('discards reserved numbers after a second, as other replicas have issued higher ones', async () => {
      const [one, other] = [start(), start()]
      await taken(() => one.next('paused', 4), 5)
      const higher = await other.next('paused', 0)
      expect(await one.next('paused', 1)).toBeLessThan(higher)
      expect(await one.next('paused', 1_001)).toBeGreaterThan(higher)
    })
  })
})
