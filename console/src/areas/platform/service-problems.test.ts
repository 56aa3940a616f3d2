import { describe, expect, test } from '@jest/globals'
import type { PlatformStatus } from '../../api/api.js'
import { countPending, countText, findProblems, isNatsAway } from './service-problems.js'

type Service = PlatformStatus['services'][number]
type Figures = NonNullable<Service['figures']>

const now = Date.parse('2026-11-28T22:00:00.000Z')
const calm: Figures = {
  unpublished: 0,
  oldestUnpublishedAt: null,
  consumers: [
    { name: 'relay', pending: null, inHand: null, deadLetters: 0 },
    { name: 'itsm-audit', pending: 3, inHand: 1, deadLetters: 0 },
  ],
  dueWork: [{ name: 'timers', late: 0, oldestSeconds: 0 }],
}
const service = (figures: Partial<Figures> | null, state = 'up'): Service => ({
  name: 'itsm',
  state,
  figures: figures && { ...calm, ...figures },
})
const consumer = (figures: Partial<Figures['consumers'][number]>) => [
  { name: 'itsm-audit', pending: 0, inHand: 0, deadLetters: 0, ...figures },
]

describe('the problem reported to the operator', () => {
  test.each<[string, Service, string[]]>([
    ['nothing', service({}), []],
    ['nothing that was made a moment ago', service({ oldestUnpublishedAt: '2026-11-28T21:59:30.000Z' }), []],
    ['events that wait', service({ oldestUnpublishedAt: '2026-11-28T21:58:00.000Z' }), ['unpublished']],
    ['a consumer that is behind', service({ consumers: consumer({ pending: 1_000 }) }), ['consumers']],
    [
      'work that is late',
      service({ dueWork: [{ name: 'timers', late: 2, oldestSeconds: 61 }] }),
      ['dueWork'],
    ],
    ['what was given up', service({ consumers: consumer({ deadLetters: 2 }) }), ['deadLetters']],
    ['a service that does not answer', service(null, 'does not answer'), ['down']],
    ['a service without figures', service(null), ['silent']],
    ['a service that is not ready', service({ consumers: consumer({ deadLetters: 2 }) }, 'waits'), ['down']],
  ])('is %s', (_, given, kinds) => {
    expect(findProblems(given, now).map(({ kind }) => kind)).toEqual(kinds)
  })

  test('names its subject in the suggested remedy', () => {
    const [trouble] = findProblems(service({ consumers: consumer({ pending: 5_000 }) }), now)
    expect(trouble?.next).toContain('itsm-audit')
  })
})

test('without NATS the number of pending events is unknown', () => {
  const without = service({ consumers: consumer({ pending: null }) })
  expect(isNatsAway([service({}), without])).toBe(true)
  expect(isNatsAway([service({}), service(null, 'does not answer')])).toBe(false)
  expect(countPending(calm)).toBe(3)
  expect(countPending({ ...calm, consumers: consumer({ pending: null }) })).toBeUndefined()
})

test.each([
  [0, '0'],
  [9_999, '9,999'],
  [10_000, '10,000+'],
])('the count %d is displayed as %s', (count, text) => {
  expect(countText(count, 10_000)).toBe(text)
})
