import { expect, test } from '@jest/globals'
import { matchesSomeEvent, unknownEventPatterns } from './event-pattern.js'

test.each(['*', 'audit.*', 'incident.*', 'incident.created', 'sdk.execution.*', 'workflow.run_failed'])(
  '%s matches at least one event type',
  (pattern) => expect(matchesSomeEvent(pattern)).toBe(true),
)

test.each([
  ['incident.craeted', 'incident.created'],
  ['incidents.created', 'incident.created'],
  ['incidents.*', 'incident.*'],
  ['workflow.run.failed', 'workflow.run_failed'],
  ['sdk.executions.*', 'sdk.execution.*'],
])('%s matches no event type; the suggestion is %s', (pattern, nearest) => {
  expect(matchesSomeEvent(pattern)).toBe(false)
  expect(unknownEventPatterns(['incident.*', pattern])).toMatchObject([{ index: 1, pattern, nearest }])
})
