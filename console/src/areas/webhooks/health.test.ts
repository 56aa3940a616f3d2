import { expect, test } from '@jest/globals'
import type { DeliveryStatus } from '../../api/api.js'
import { computeHealth } from './health.js'

const delivery = (status: DeliveryStatus, lastDurationMs: number | null = null) => ({
  ...{ id: 'del_1', replayOf: null },
  ...{ status, lastDurationMs },
})
const several = (count: number, status: DeliveryStatus) =>
  Array.from({ length: count }, () => delivery(status))

test('counts ended deliveries, and measures the duration of those attempted', () => {
  const latest = [
    delivery('pending'),
    delivery('held'),
    delivery('retrying', 900),
    delivery('failed', 300),
    delivery('succeeded', 100),
    delivery('succeeded', 200),
  ]
  expect(computeHealth(latest)).toEqual({
    total: 6,
    failed: 1,
    unresolved: 1,
    succeededShare: 67,
    medianMs: 200,
    p95Ms: 900,
  })
})

test('rounds the share of successes to 0 or 100 % only if it is exact', () => {
  expect(computeHealth([...several(999, 'succeeded'), ...several(1, 'failed')]).succeededShare).toBe(99)
  expect(computeHealth([...several(1, 'succeeded'), ...several(999, 'failed')]).succeededShare).toBe(1)
  expect(computeHealth(several(3, 'succeeded')).succeededShare).toBe(100)
  expect(computeHealth(several(3, 'failed')).succeededShare).toBe(0)
})

test('computes no share and no duration without ended deliveries', () => {
  const nothing = {
    total: 0,
    failed: 0,
    unresolved: 0,
    succeededShare: undefined,
    medianMs: undefined,
    p95Ms: undefined,
  }
  expect(computeHealth([])).toEqual(nothing)
  expect(computeHealth([delivery('pending')])).toEqual({ ...nothing, total: 1 })
})

test('a failed delivery counts as resolved once its replay has succeeded', () => {
  const [failed, replayed] = [
    delivery('failed'),
    { ...delivery('succeeded'), id: 'del_2', replayOf: 'del_1' },
  ]
  expect(computeHealth([replayed, failed])).toMatchObject({ failed: 1, unresolved: 0 })
  expect(computeHealth([{ ...replayed, status: 'failed' }, failed])).toMatchObject({
    failed: 2,
    unresolved: 1,
  })
})
