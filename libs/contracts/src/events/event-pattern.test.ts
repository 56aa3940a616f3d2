import { expect, test } from '@jest/globals'
import { matchesSomeEvent, unknownEventPatterns } from './event-pattern.js'

test.each(['*', 'audit.*', 'incident.*', 'incident.created', 'sdk.execution.*', 'workflow.run_failed'])(
  '%s matches something',
  (pattern) => expect(matchesSomeEvent(pattern)).toBe(true),
)

test.each([
  ['incident.craeted', 'incident.created'],
  ['incidents.created', 'incident.created'],
  ['incidents.*', 'incident.*'],
  ['workflow.run.failed', 'workflow.run_failed'],
  ['sdk.executions.*', 'sdk.execution.*'],
])('%s matches nothing; %s is the nearest', (pattern, nearest) => {
  expect(matchesSomeEvent(pattern)).toBe(false)
  expect(unknownEventPatterns(['incident.*', pattern])).toMatchObject([{ index: 1, pattern, nearest }])
})
