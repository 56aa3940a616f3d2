import { expect, test } from '@jest/globals'
import { keySearch, notificationSearch, userSearch } from './search.js'

test.each([
  [
    userSearch,
    { status: 'invited', role: 'viewer', q: 7, page: 2 },
    { status: 'invited', role: 'viewer', q: '7' },
  ],
  [userSearch, { status: 'gone', role: '', q: null }, {}],
  [keySearch, { whose: 'all', status: 'revoked' }, { whose: 'all', status: 'revoked' }],
  [keySearch, { whose: 'mine', status: 'revoked' }, {}],
  [notificationSearch, { unread: true }, { unread: 'true' }],
  [notificationSearch, { unread: 'maybe' }, {}],
])('only valid query parameters become filters: %#', (read, given, filters) => {
  expect(read(given)).toEqual(filters)
})
