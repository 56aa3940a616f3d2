import { expect, test } from '@jest/globals'
import { groupFailures, spreadOf } from './groups.js'

const failure = (cause: string, target: string, minute: number) => ({
  ...{ cause, target },
  at: `2026-03-02T10:${String(minute).padStart(2, '0')}:00.000Z`,
})
const reading = {
  causeOf: ({ cause }: ReturnType<typeof failure>) => cause,
  targetOf: ({ target }: ReturnType<typeof failure>) => target,
  atOf: ({ at }: ReturnType<typeof failure>) => at,
}

test('are together by cause and target, the latest group first', () => {
  const failures = [
    failure('500', 'pager', 1),
    failure('500', 'chat', 5),
    failure('500', 'pager', 9),
    failure('timeout', 'pager', 3),
    failure('500', 'pager', 4),
  ]
  const groups = groupFailures(failures, reading)
  expect(
    groups.map(({ cause, target, items }) => [cause, target, items.map(({ at }) => at.slice(14, 16))]),
  ).toEqual([
    ['500', 'pager', ['09', '04', '01']],
    ['500', 'chat', ['05']],
    ['timeout', 'pager', ['03']],
  ])
  expect(groups[0]).toMatchObject({
    ...{ firstAt: '2026-03-02T10:01:00.000Z', lastAt: '2026-03-02T10:09:00.000Z' },
  })
  expect(groupFailures([], reading)).toEqual([])
})

test('no two groups are taken for one, whatever their names are', () => {
  expect(groupFailures([failure('a ', 'b', 1), failure('a', ' b', 2)], reading)).toHaveLength(2)
})

test('spread over the time up to now, the edges included', () => {
  const from = Date.parse('2026-03-02T10:00:00.000Z')
  const instants = [0, 1, 30, 59, 60].map((minutes) => new Date(from + minutes * 60_000).toISOString())
  expect(spreadOf(instants, from, from + 3_600_000, 4)).toEqual([2, 0, 1, 2])
  expect(spreadOf(instants.slice(0, 1), from, from, 3)).toEqual([1, 0, 0])
})
