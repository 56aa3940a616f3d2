import { expect, test } from '@jest/globals'
import { auditEntrySearch, deliverySearch, eventSearch, webhookSearch } from './search.js'

test('only valid query parameters become filters', () => {
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

test('the audit entry of an event is searched by its resource and its millisecond', () => {
  expect(auditEntrySearch({ createdAt: '2026-01-01T09:59:59.999Z', resource: { id: 'inc_1' } })).toEqual({
    ...{ resource: 'inc_1', from: '2026-01-01T09:59:59.999Z', to: '2026-01-01T10:00:00.000Z' },
  })
})
