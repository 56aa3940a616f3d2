import { expect, it } from '@jest/globals'
import { afterFailure, mailWorthMs } from './mail-retry.js'

const now = Date.parse('2026-03-01T10:00:00.000Z')
const minuteMs = 60_000

it.each([
  [1, minuteMs / 2],
  [2, minuteMs],
  [3, 2 * minuteMs],
  [8, 60 * minuteMs],
  [40, 60 * minuteMs],
])('after attempt %d a mail waits %d ms', (attempts, waitMs) => {
  expect(afterFailure(attempts, now + mailWorthMs, now)).toEqual({ status: 'pending', dueAt: now + waitMs })
})

it('is given up once the next attempt would come too late', () => {
  const giveUpAt = now + 60 * minuteMs
  expect(afterFailure(20, giveUpAt, now)).toEqual({ status: 'failed' })
  expect(afterFailure(20, giveUpAt + 1, now)).toMatchObject({ status: 'pending' })
})
