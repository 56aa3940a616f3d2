import { describe, expect, it, test } from '@jest/globals'
import { type KpiDirection, type KpiPeriod, Schedule } from '@opsplane/contracts'
import { computeStatus, computeTrend, findTarget } from './kpi-status.js'
import { computePeriod } from './period.js'
import { defaultSchedule, pastTimes, updateSchedule } from './times.js'

const berlin = 'Europe/Berlin'
const covered = (period: KpiPeriod, zone: string, at: string) => {
  const { from, to } = computePeriod(period, zone, Date.parse(at))
  return [from, to].map((ms) => new Date(ms).toISOString().slice(0, 16))
}

describe('exact thresholds', () => {
  const target = { from: '2026-01-01', value: '2.30', warning: '9007199254740993.1' }
  it.each([
    ['up', 2.3, 'on_target'],
    ['up', '2.2999999999999999999', 'off_target'],
    ['down', '2.3000000000000000001', 'at_risk'],
    ['down', '9007199254740993.1', 'at_risk'],
    ['down', '9007199254740993.2', 'off_target'],
  ] as const)('%s: %s is %s', (direction, value, wanted) =>
    expect(computeStatus(value, target, direction)).toBe(wanted),
  )

  it('apply to trends as well', () => {
    expect(computeTrend(0.3, 0.1, 'up')).toEqual({ change: 0.2, ratio: 2, direction: 'better' })
    expect(computeTrend('12345678901234567890.2', '12345678901234567890.1', 'down')).toMatchObject({
      ...{ change: 0.1, direction: 'worse' },
    })
    expect(computeTrend(0, 0, 'up')).toEqual({ change: 0, ratio: null, direction: 'steady' })
  })
})

describe('the period of a value', () => {
  it.each<[string, KpiPeriod, string, string, string, string]>([
    ['a day', { last: 'day' }, berlin, '2026-03-28T12:00Z', '2026-03-26T23:00', '2026-03-27T23:00'],
    [
      'a day of 23 hours',
      { last: 'day' },
      berlin,
      '2026-03-29T22:01Z',
      '2026-03-28T23:00',
      '2026-03-29T22:00',
    ],
    [
      'a day of 25 hours',
      { last: 'day' },
      berlin,
      '2026-10-25T23:01Z',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
    ],
    [
      'a day that is over this very moment',
      { last: 'day' },
      'UTC',
      '2026-03-29T00:00Z',
      '2026-03-28T00:00',
      '2026-03-29T00:00',
    ],
    // The clock goes from 23:59 to 01:00.
    [
      'a day whose midnight never was',
      { last: 'day' },
      'Africa/Cairo',
      '2026-04-24T12:00Z',
      '2026-04-22T22:00',
      '2026-04-23T22:00',
    ],
    [
      'a day west of Greenwich',
      { last: 'day' },
      'America/New_York',
      '2026-03-09T12:00Z',
      '2026-03-08T05:00',
      '2026-03-09T04:00',
    ],
    ['an hour', { last: 'hour' }, berlin, '2026-03-29T01:00Z', '2026-03-29T00:00', '2026-03-29T01:00'],
    [
      'an hour of a clock that goes by halves',
      { last: 'hour' },
      'Asia/Kolkata',
      '2026-03-29T01:10Z',
      '2026-03-28T23:30',
      '2026-03-29T00:30',
    ],
    [
      'a week from Monday',
      { last: 'week' },
      berlin,
      '2026-03-30T00:00Z',
      '2026-03-22T23:00',
      '2026-03-29T22:00',
    ],
    ['a month', { last: 'month' }, berlin, '2026-04-01T10:00Z', '2026-02-28T23:00', '2026-03-31T22:00'],
    ['a quarter', { last: 'quarter' }, berlin, '2026-04-01T10:00Z', '2025-12-31T23:00', '2026-03-31T22:00'],
    [
      'seconds, whatever the clock does',
      { seconds: 86_400 },
      berlin,
      '2026-03-29T12:00Z',
      '2026-03-28T12:00',
      '2026-03-29T12:00',
    ],
  ])('%s', (_what, period, zone, at, from, to) => {
    expect(covered(period, zone, at)).toEqual([from, to])
  })

  it('covers each day of a year once, without gaps, across all daylight saving changes', () => {
    for (const zone of [berlin, 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Africa/Cairo', 'Pacific/Apia']) {
      let end = computePeriod({ last: 'day' }, zone, Date.parse('2026-01-01T12:00Z')).to
      for (let day = 0; day < 365; day++) {
        const next = computePeriod({ last: 'day' }, zone, end + 30 * 3_600_000)
        expect([zone, next.from]).toEqual([zone, end])
        end = next.to
      }
    }
  })
})

describe('the status of a KPI', () => {
  const target = { from: '2026-01-01', value: 10, warning: 12 }
  it.each<[number | null, KpiDirection, string]>([
    [10, 'down', 'on_target'],
    [11, 'down', 'at_risk'],
    [12.1, 'down', 'off_target'],
    [10, 'up', 'on_target'],
    [9, 'up', 'off_target'],
    [null, 'up', 'no_data'],
  ])('for the value %s, where %s is better, is as expected', (value, direction, status) => {
    expect(computeStatus(value, target, direction)).toBe(status)
  })

  it('uses the target of the last covered day in the time zone', () => {
    const targets = [
      { from: '2026-04-01', value: 2 },
      { from: '2026-01-01', value: 1 },
    ]
    const at = (to: string, timeZone = berlin) =>
      findTarget({ targets, timeZone }, { from: 0, to: Date.parse(to) })?.value
    expect(at('2026-03-31T22:00Z')).toBe(1)
    expect(at('2026-04-01T22:00Z')).toBe(2)
    expect(at('2026-03-31T22:00:00.001Z')).toBe(2)
    expect(at('2026-03-31T22:00:00.001Z', 'UTC')).toBe(1)
    expect(at('2025-12-31T23:00Z')).toBeUndefined()
    expect(computeStatus(1, undefined, 'up')).toBe('no_target')
  })
})

test('a trend is better or worse depending on the direction of the KPI', () => {
  expect(computeTrend(8, 10, 'down')).toEqual({ change: -2, ratio: -0.2, direction: 'better' })
  expect(computeTrend(8, 10, 'up')).toMatchObject({ direction: 'worse' })
  expect(computeTrend(8, 0, 'up')).toMatchObject({ ratio: null, direction: 'better' })
  expect(computeTrend(8, 8, 'up')).toMatchObject({ direction: 'steady' })
  expect(computeTrend(null, 8, 'up')).toEqual({ change: null, ratio: null, direction: null })
})

describe('the times of a schedule', () => {
  const span = { from: Date.parse('2026-03-28T00:00Z'), to: Date.parse('2026-03-31T00:00Z') }
  const times = (schedule: object, createdAt = '2026-06-01T10:07:00.000Z') =>
    pastTimes({ schedule: Schedule.parse(schedule), createdAt }, span).map((at) =>
      new Date(at).toISOString().slice(0, 16),
    )

  it('in the past follow its cron expression, even before the schedule starts', () => {
    const daily = defaultSchedule({ last: 'day' }, berlin)
    const expected = ['2026-03-28T23:01', '2026-03-29T22:01', '2026-03-30T22:01']
    expect(times(daily)).toEqual(expected)
    expect(times({ ...daily, startAt: '2026-05-01T00:00:00.000Z' })).toEqual(expected)
  })

  it('with an interval are whole intervals from its start, also before it', () => {
    expect(times({ everySeconds: 86_400 })).toEqual([
      '2026-03-28T10:07',
      '2026-03-29T10:07',
      '2026-03-30T10:07',
    ])
    const ofDays = { everySeconds: 86_400, startAt: '2026-06-01', timeZone: berlin }
    expect(times(ofDays)).toEqual(['2026-03-28T22:00', '2026-03-29T22:00', '2026-03-30T22:00'])
    expect(() => times({ everySeconds: 60 })).toThrow('more than 2000 times')
  })

  it('follow a changed period only if the schedule is the default', () => {
    const before = { period: { last: 'day' }, timeZone: berlin } as const
    const after = { period: { last: 'week' }, timeZone: 'UTC' } as const
    const usual = defaultSchedule(before.period, berlin)
    expect(updateSchedule({ ...before, schedule: usual }, after)).toEqual(
      defaultSchedule(after.period, 'UTC'),
    )
    const own = Schedule.parse({ cron: '0 8 * * *' })
    expect(updateSchedule({ ...before, schedule: own }, after)).toEqual(own)
  })
})
