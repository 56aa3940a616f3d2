import { describe, expect, it } from '@jest/globals'
import { cronProblem } from './cron.js'
import { Schedule } from './schedule.js'

const issues = (input: unknown) =>
  (Schedule.safeParse(input).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)

describe('a cron expression', () => {
  it.each([
    '* * * * *',
    '*/5 0-23 1,15 JAN-MAR,12 mon-fri',
    '0 0 L * *',
    '0 0 * * FRIL',
    '0 0 * * 5#2',
    '0 0 29 2 *',
    '0 0 31 2 MON',
    '5-59/5 * * * 7',
    '@daily',
  ])('%s is valid', (expression) => {
    expect(cronProblem(expression)).toBeUndefined()
  })

  it.each([
    ['', 'needs five parts'],
    ['* * * *', 'needs five parts'],
    ['0 * * * * *', 'needs five parts'],
    ['@often', 'needs five parts'],
    ['60 * * * *', 'minute: 60 is not a number from 0 to 59'],
    ['*/0 * * * *', 'minute: */0'],
    ['5/15 * * * *', 'minute: 5/15'],
    ['1,,2 * * * *', 'minute: something is missing'],
    ['* 24 * * *', 'hour: 24'],
    ['* 5-1 * * *', 'hour: 5-1'],
    ['* * 0 * *', 'day of month: 0'],
    ['* * * 13 *', 'month: 13 is not a number from 1 to 12, JAN to DEC'],
    ['* * * * FUN', 'day of week: FUN'],
    ['* * * * MON#6', 'day of week: MON#6'],
    ['0 0 30 2 *', 'day of month: no such month has a day 30'],
    ['0 0 31 4,6 *', 'day of month: no such month has a day 31'],
  ])('%s is invalid: %s', (expression, problem) => {
    expect(cronProblem(expression)).toContain(problem)
  })
})

describe('a schedule', () => {
  it('has a cron expression or an interval, with policies', () => {
    expect(Schedule.parse({ cron: '@daily', timeZone: 'Asia/Kolkata' })).toEqual({
      ...{ cron: '@daily', timeZone: 'Asia/Kolkata', overlap: 'skip', misfire: 'once', maxCatchUp: 10 },
    })
    expect(issues({ everySeconds: 30, overlap: 'queue', misfire: 'all', maxCatchUp: 100 })).toEqual([])
    const days = { timeZone: 'Asia/Tokyo', startAt: '2026-05-01', endAt: '2026-04-30T20:00:00Z' }
    expect(issues({ everySeconds: 30, ...days })).toEqual([])
  })

  it.each([
    [{}, 'cron: is required, or everySeconds is'],
    [{ cron: '@daily', everySeconds: 5 }, 'everySeconds: cannot be combined with cron'],
    [{ cron: '@daily', timeZone: 'Mars/Olympus' }, 'timeZone: must be the IANA name'],
    [{ cron: '@daily', timeZone: '+02:00' }, 'timeZone: must be the IANA name'],
    [{ everySeconds: 5, timeZone: 'UTC' }, 'timeZone: is of use with cron or a date only'],
    [{ cron: '* 25 * * *' }, 'cron: hour: 25'],
    [
      { cron: '@daily', startAt: '2026-05-02T00:00:00Z', endAt: '2026-05-01T00:00:00Z' },
      'endAt: must not be',
    ],
    [{ everySeconds: 5, startAt: '2026-05-02', endAt: '2026-05-01' }, 'endAt: must not be'],
    [{ everySeconds: 5, startAt: '2026-05-32' }, 'startAt: must be an instant'],
    [{ cron: '@daily', overlap: 'both' }, 'overlap: '],
  ])('%j is invalid: %s', (input, issue) => {
    expect(issues(input)).toEqual([expect.stringContaining(issue)])
  })
})
