import { expect, test } from '@jest/globals'
import { subjectMatches } from './subject-match.js'

test.each([
  ['evt.>', 'evt.ws_1.production.incident.created', true],
  ['evt.>', 'evt', false],
  ['evt.*.production.incident.>', 'evt.ws_1.production.incident.created', true],
  ['evt.*.production.incident.>', 'evt.ws_1.staging.incident.created', false],
  ['evt.*', 'evt.a', true],
  ['evt.*', 'evt.a.b', false],
  ['evt.a.b', 'evt.a.b', true],
  ['evt.a.b', 'evt.a', false],
])('filter %s matches subject %s: %s', (filter, subject, matches) => {
  expect(subjectMatches(filter, subject)).toBe(matches)
})
