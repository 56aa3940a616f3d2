import { expect, test } from '@jest/globals'
import type { AuditEvent, Delivery } from '../../api/api.js'
import { buildTimeline } from './timeline.js'

const event = (id: string, second: number) =>
  ({ id, createdAt: `2026-01-01T00:00:0${second}.000Z` }) as AuditEvent
const delivery = (id: string, second: number) =>
  ({ id, createdAt: `2026-01-01T00:00:0${second}.000Z` }) as Delivery

test('a timeline lists each event once, in order of time, and a delivery after its event', () => {
  const steps = buildTimeline({
    events: [event('evt_3', 2), event('evt_2', 1), event('evt_3', 2), event('evt_1', 1)],
    deliveries: [delivery('del_1', 2), delivery('del_0', 4)],
  })
  expect(steps.map(({ id, kind, atMs }) => [id, kind, atMs - (steps[0]?.atMs ?? 0)])).toEqual([
    ['evt_1', 'event', 0],
    ['evt_2', 'event', 0],
    ['evt_3', 'event', 1_000],
    ['del_1', 'delivery', 1_000],
    ['del_0', 'delivery', 3_000],
  ])
})
