import { expect, test } from '@jest/globals'
import { coveringFilter, subjectMatches } from './subject-match.js'

test.each([
  ['evt.>', 'evt.ws_1.production.incident.created', true],
  ['evt.>', 'evt', false],
  ['evt.*.production.incident.>', 'evt.ws_1.production.incident.created', true],
  ['evt.*.production.incident.>', 'evt.ws_1.staging.incident.created', false],
  ['evt.*', 'evt.a', true],
  ['evt.*', 'evt.a.b', false],
  ['evt.a.b', 'evt.a.b', true],
  ['evt.a.b', 'evt.a', false],
])('%s and %s: %s', (filter, subject, matches) => {
  expect(subjectMatches(filter, subject)).toBe(matches)
})

test.each([
  [[], undefined],
  [['evt.a'], 'evt.a'],
  [['evt.*.incident.created', 'evt.*.incident.resolved'], 'evt.*.incident.>'],
  [['evt.*.incident.*', 'evt.*.problem.*'], 'evt.*.>'],
  [['evt.a.>', 'evt.a.b'], 'evt.a.>'],
  [['evt.a', 'evt.a.b'], 'evt.>'],
  [['evt.a.b', 'evt.a.b'], 'evt.a.b'],
  [['evt.a', 'top.b'], undefined],
])('%j are covered by %s', (filters, covering) => {
  expect(coveringFilter(filters)).toBe(covering)
  if (covering === undefined) return
  for (const filter of filters)
    expect(subjectMatches(covering, filter.replaceAll('*', 'x').replace('>', 'y'))).toBe(true)
})
