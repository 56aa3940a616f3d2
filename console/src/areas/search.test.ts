import { expect, test } from '@jest/globals'
import { deliverySearch, eventSearch, webhookSearch } from './search.js'

test('filters are what an address says, and nothing that is none', () => {
  expect(deliverySearch({ status: 'failed', webhook: 'wh_1', type: 'incident.created', other: 'x' })).toEqual(
    {
      ...{ status: 'failed', webhook: 'wh_1', type: 'incident.created' },
    },
  )
  expect(deliverySearch({ status: 'lost', webhook: ['wh_1'], type: '' })).toEqual({})
  expect(webhookSearch({ status: 'paused' })).toEqual({ status: 'paused' })
  expect(webhookSearch({ status: 'failed' })).toEqual({})
  expect(eventSearch({ request: 12345678, tab: 'raw', resource: { a: 1 } })).toEqual({
    request: '12345678',
    tab: 'raw',
  })
})
