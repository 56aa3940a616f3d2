import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openTestStore, type TestStore } from '../fixture/test-database.js'

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

  test('increase, each workspace and kind by itself', async () => {
    const { numbers } = testStore.replica().store
    const own = [await numbers.next('ws_2', 'incident'), await numbers.next('ws_2', 'incident')]
    expect(own).toEqual([1, 2])
    expect(await Promise.all([numbers.next('ws_2', 'change'), numbers.next('ws_3', 'incident')])).toEqual([
      1, 1,
    ])
  })
})
