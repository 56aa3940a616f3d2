import { describe, expect, it } from '@jest/globals'
import { idSchema, idTime, minId, newId } from '@opsplane/contracts'
import { deriveDeliveryId } from './delivery-id.js'

describe('delivery ids', () => {
  it('are ordered by their creation time', () => {
    const id = newId('delivery')
    const now = Date.now()
    expect(minId('delivery', now + 1) > id).toBe(true)
    expect(minId('delivery', now - 60_000) < id).toBe(true)
    expect(minId('delivery', Date.parse('2016-07-30T23:54:10.259Z'))).toBe('del_01ARZ3NDEK')
    expect(minId('delivery', -1)).toBe('del_0000000000')
  })

  it('contain their creation time', () => {
    expect(idTime('evt_01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe(Date.parse('2016-07-30T23:54:10.259Z'))
  })

  it('are equal for the same event and webhook, and contain the time of the event', () => {
    const [event, webhook] = ['evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', newId('webhook')]
    const id = deriveDeliveryId(event, webhook)
    expect(idSchema('delivery').parse(id)).toBe(deriveDeliveryId(event, webhook))
    expect(idTime(id)).toBe(idTime(event))
    expect(deriveDeliveryId(event, newId('webhook'))).not.toBe(id)
    expect(deriveDeliveryId(newId('event'), webhook)).not.toBe(id)
  })
})
