import { describe, expect, it, test } from '@jest/globals'
import { weekdays } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { wallQuarters, zones } from '../sla/timer/oracle.fixture.js'
import { computeBounds, occurrences, type Recurrence } from './occurrences.js'
import { containsSpan, mergeSpans, overlap, type Span } from './spans.js'

const at = (text: string) => Date.parse(text)
const minuteMs = 60_000
const dayMs = 86_400_000

function weekly(fields: Partial<Recurrence>) {
  const recurrence: Recurrence = {
    timeZone: 'Europe/Berlin',
    weekdays: ['sunday'],
    from: '02:00',
    to: '03:00',
    validFrom: null,
    validUntil: null,
    ...fields,
  }
  return { span: null, recurrence }
}
const reported = (spans: Span[]) =>
  spans.map(
    ({ from, to }) =>
      `${new Date(from).toISOString().slice(0, 16)}/${new Date(to).toISOString().slice(0, 16)}`,
  )

describe('a recurring window', () => {
  const spring = { from: at('2026-03-28T00:00:00Z'), to: at('2026-03-31T00:00:00Z') }
  const autumn = { from: at('2026-10-24T00:00:00Z'), to: at('2026-10-27T00:00:00Z') }

  test.each<[string, Partial<Recurrence>, Span, string[]]>([
    ['does not happen at times the clock skips', { from: '02:00', to: '03:00' }, spring, []],
    [
      'is cut by what the clock skips',
      { from: '01:30', to: '03:30' },
      spring,
      ['2026-03-29T00:30/2026-03-29T01:30'],
    ],
    [
      'begins late where its beginning is skipped',
      { from: '02:30', to: '04:00' },
      spring,
      ['2026-03-29T01:00/2026-03-29T02:00'],
    ],
    [
      'lasts through what the clock shows twice',
      { from: '02:00', to: '03:00' },
      autumn,
      ['2026-10-25T00:00/2026-10-25T02:00'],
    ],
    [
      'lasts until its end is shown again',
      { from: '01:00', to: '02:30' },
      autumn,
      ['2026-10-24T23:00/2026-10-25T01:30'],
    ],
    [
      'passes midnight into the short day',
      { weekdays: ['saturday'], from: '22:00', to: '04:00' },
      spring,
      ['2026-03-28T21:00/2026-03-29T02:00'],
    ],
    [
      'passes midnight into the long day',
      { weekdays: ['saturday'], from: '22:00', to: '04:00' },
      autumn,
      ['2026-10-24T20:00/2026-10-25T03:00'],
    ],
    [
      'lasts a day of 23 hours',
      { from: '00:00', to: '00:00' },
      spring,
      ['2026-03-28T23:00/2026-03-29T22:00'],
    ],
    [
      'comes on each of its weekdays',
      { weekdays: ['monday', 'sunday'], from: '12:00', to: '13:00' },
      spring,
      ['2026-03-29T10:00/2026-03-29T11:00', '2026-03-30T10:00/2026-03-30T11:00'],
    ],
    [
      'belongs to the day it begins on: the last of its dates counts to the end',
      {
        weekdays: [...weekdays],
        from: '23:00',
        to: '01:00',
        validFrom: '2026-03-29',
        validUntil: '2026-03-29',
      },
      spring,
      ['2026-03-29T21:00/2026-03-29T23:00'],
    ],
    [
      'misses a date the zone skipped',
      { timeZone: 'Pacific/Apia', weekdays: ['friday'], from: '09:00', to: '10:00' },
      { from: at('2011-12-24T00:00:00Z'), to: at('2012-01-08T00:00:00Z') },
      ['2012-01-05T19:00/2012-01-05T20:00'],
    ],
  ])('%s', (_, fields, within, expected) => {
    expect(reported(occurrences(weekly(fields), within))).toEqual(expected)
  })

  it('is found by a range that overlaps it, and not by a range outside it', () => {
    const night = weekly({ weekdays: ['saturday'], from: '22:00', to: '04:00' })
    const [from, to] = [at('2026-06-06T20:00:00Z'), at('2026-06-07T02:00:00Z')]
    expect(occurrences(night, { from: to - 1, to: to + 1 })).toEqual([{ from, to }])
    expect(occurrences(night, { from: from - 1, to: from + 1 })).toEqual([{ from, to }])
    expect(occurrences(night, { from: to, to: to + dayMs })).toEqual([])
    expect(occurrences(night, { from: from - dayMs, to: from })).toEqual([])
  })

  it('matches a wall clock that is read minute by minute', () => {
    const time = (minutes: number) =>
      `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
    const random = seededRandom(29)
    const seen = { spans: 0, nights: 0 }
    for (const timeZone of zones) {
      // Weeks in which clocks change, in both hemispheres.
      for (const start of [at('2026-03-23T00:00:00Z'), at('2026-10-19T00:00:00Z')]) {
        for (let round = 0; round < 12; round++) {
          const early = random() < 0.5 ? 240 : 1_440
          const { recurrence } = weekly({
            timeZone,
            weekdays: weekdays.filter(() => random() < 0.6),
            from: time(Math.floor(random() * early)),
            to: time(Math.floor(random() * early)),
          })
          const expected = onTheWall(recurrence, start, 21)
          const [from, to] = [start + 2 * dayMs, start + 19 * dayMs]
          const found = occurrences({ span: null, recurrence }, { from, to })
          expect([recurrence, found]).toEqual([
            recurrence,
            expected.filter((span) => overlap(span, { from, to })),
          ])
          seen.spans += found.length
          seen.nights += recurrence.to <= recurrence.from ? found.length : 0
        }
      }
    }
    expect(seen.spans).toBeGreaterThan(1_000)
    expect(seen.nights).toBeGreaterThan(300)
  })
})

/** From the first to the last minute that belongs to a date, as shown by the wall clock. */
function onTheWall({ timeZone, weekdays: days, ...times }: Recurrence, start: number, count: number): Span[] {
  const toMinutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
  const [opens, closes] = [toMinutes(times.from), toMinutes(times.to)]
  const byDate = new Map<string, Span>()
  for (const [quarter, wall] of wallQuarters(timeZone, start, count).entries()) {
    const before = new Date(at(wall.date) - dayMs).toISOString().slice(0, 10)
    const begins = (date: string) => days.includes(weekdays[(new Date(date).getUTCDay() + 6) % 7] ?? 'monday')
    const [today, yesterday] = [begins(wall.date), begins(before)]
    for (let minute = 0; minute < 15; minute++) {
      const shown = wall.minutes + minute
      const ofToday = today && shown >= opens && (opens >= closes || shown < closes)
      const date = ofToday ? wall.date : yesterday && opens >= closes && shown < closes ? before : null
      if (date === null) continue
      const instant = start + (quarter * 15 + minute) * minuteMs
      byDate.set(date, { from: byDate.get(date)?.from ?? instant, to: instant + minuteMs })
    }
  }
  return [...byDate.values()]
}

test.each<[string, Partial<Recurrence>, [string | null, string | null] | null]>([
  ['without end', {}, [null, null]],
  ['from a date on', { validFrom: '2026-03-26' }, ['2026-04-05T00:00:00Z', null]],
  ['until a date', { validUntil: '2026-04-06' }, [null, '2026-04-05T01:00:00Z']],
  ['between dates without such a weekday', { validFrom: '2026-04-06', validUntil: '2026-04-11' }, null],
  ['on a day on which the clock skips it', { validFrom: '2026-03-28', validUntil: '2026-03-30' }, null],
  ['in the wrong order', { validFrom: '2026-04-11', validUntil: '2026-04-06' }, null],
])('a window that recurs %s has the expected bounds', (_, fields, expected) => {
  const bounds = computeBounds(weekly(fields))
  const instants = bounds && [bounds.startsAt, bounds.endsAt].map((text) => text && at(text))
  expect(instants).toEqual(expected?.map((text) => text && at(text)) ?? null)
})

test('merges adjacent spans, and detects whether they contain another span', () => {
  const span = (from: number, to: number) => ({ from, to })
  const spans = mergeSpans([span(5, 7), span(1, 3), span(3, 4), span(6, 9)])
  expect(spans).toEqual([span(1, 4), span(5, 9)])
  expect([
    containsSpan(spans, span(2, 4)),
    containsSpan(spans, span(3, 6)),
    containsSpan(spans, span(5, 9)),
  ]).toEqual([true, false, true])
})
