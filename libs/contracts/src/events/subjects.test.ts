import { expect, test } from '@jest/globals'
import { natsNames } from '../index.js'

test.each([
  [['incident.created'], ['evt.*.*.incident.created']],
  [['incident.*'], ['evt.*.*.incident.>']],
  [['*', 'incident.created'], ['evt.*.*.>']],
  [['audit.*', '*'], ['evt.*.*.>']],
  [
    ['incident.*', 'incident.created', 'user.activated', 'user.activated', 'incident.comment.*'],
    ['evt.*.*.incident.>', 'evt.*.*.user.activated'],
  ],
])('the patterns %j become the subject filters %j, without overlap', (patterns, filters) => {
  expect(natsNames().eventFilters(patterns)).toEqual(filters)
})

test('subject filters of one tenant contain the prefix, workspace and environment', () => {
  const tenant = { workspaceId: 'ws_1', environment: 'staging' } as const
  expect(natsNames('x').eventFilters(['token.*'], tenant)).toEqual(['x.evt.ws_1.staging.token.>'])
})
