import { expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { leastDeliveryId } from './id-time.js'

it('divides delivery ids by the time they were made', () => {
  const id = newId('delivery')
  const now = Date.now()
  expect(leastDeliveryId(now + 1) > id).toBe(true)
  expect(leastDeliveryId(now - 60_000) < id).toBe(true)
  expect(leastDeliveryId(Date.parse('2016-07-30T23:54:10.259Z'))).toBe('del_01ARZ3NDEK')
  expect(leastDeliveryId(-1)).toBe('del_0000000000')
})
