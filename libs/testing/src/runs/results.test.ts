import { expect, test } from '@jest/globals'
import { describeResults, type RunResult } from './results.js'

const result = (overrides: Partial<RunResult>): RunResult => ({
  ...{ commit: '0123456789abcdef', dirty: false, tier: 'fast', part: 'quiet', passed: 10, failed: 0 },
  ...{ failures: [], seconds: 480, startedAt: '2026-01-01T00:00:00Z' },
  ...overrides,
})

test('results contain part, outcome, commit and failed tests', () => {
  const lines = describeResults([
    result({}),
    result({ part: 'cpu', failed: 1, failures: ['the relay loses nothing'], dirty: true }),
  ]).split('\n')
  expect(lines).toEqual([
    'quiet    green 10 passed, 0 failed, 480 s, 01234567',
    'cpu      RED   10 passed, 1 failed, 480 s, 01234567 with changes',
    '         the relay loses nothing',
  ])
})
