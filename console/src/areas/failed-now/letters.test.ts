import { expect, test } from '@jest/globals'
import type { DeadLetter, WorkspaceStatus } from '../../api/api.js'
import { groupDeadLetters, groupStatusFigures } from './letters.js'

const letter = (given: Partial<DeadLetter>) =>
  ({ service: 'analytics', consumer: 'analytics-facts', cause: 'timeout', ...given }) as DeadLetter

test('dead letters are grouped by consumer and cause, with the times of the first and the last', () => {
  const groups = groupDeadLetters([
    letter({ createdAt: '2026-01-01T03:00:00Z' }),
    letter({ createdAt: '2026-01-01T02:00:00Z', cause: null }),
    letter({ createdAt: '2026-01-01T01:00:00Z' }),
  ])
  expect(groups.map(({ count, firstAt, lastAt }) => [count, firstAt, lastAt])).toEqual([
    [2, '2026-01-01T01:00:00Z', '2026-01-01T03:00:00Z'],
    [1, '2026-01-01T02:00:00Z', '2026-01-01T02:00:00Z'],
  ])
})

test('status figures of a workspace become groups, except those of a service that does not answer', () => {
  const status = {
    services: [
      { name: 'apps', figures: null },
      {
        name: 'analytics',
        figures: { deadLetters: [{ consumer: 'analytics-facts', cause: 'timeout', count: 10_000 }] },
      },
    ],
  } as unknown as WorkspaceStatus
  expect(groupStatusFigures(status)).toMatchObject([
    { service: 'analytics', target: { name: 'analytics-facts' }, count: 10_000, isMore: true },
  ])
})

test('a rejected signature has a description of its own, and other causes are described by their code', () => {
  const groups = groupDeadLetters([
    letter({ cause: 'SignatureError' }),
    letter({ cause: 'version_conflict' }),
  ])
  expect(groups.map(({ cause }) => cause.message)).toEqual([
    'Refused signature',
    'Given up: version conflict',
  ])
})
