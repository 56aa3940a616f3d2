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
])('%j is asked for as %j, without overlap', (patterns, filters) => {
  expect(natsNames().eventFilters(patterns)).toEqual(filters)
})

test('of one tenant, below the prefix', () => {
  const tenant = { workspaceId: 'ws_1', environment: 'staging' } as const
  expect(natsNames('x').eventFilters(['token.*'], tenant)).toEqual(['x.evt.ws_1.staging.token.>'])
})
