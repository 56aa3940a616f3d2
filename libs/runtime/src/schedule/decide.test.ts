import { describe, expect, it } from '@jest/globals'
import { Schedule } from '@opsplane/contracts'
import { decideFires, decideOverlap } from './decide.js'

const at = (text: string) => Date.parse(`2026-05-${text}:00Z`)
const decided = (fields: object, plannedAt: string, now: string) => {
  const schedule = Schedule.parse({ cron: '0 * * * *', ...fields })
  const { fires, next } = decideFires(schedule, { plannedAt: at(plannedAt), now: at(now) })
  const text = (instant: number) => new Date(instant).toISOString().slice(8, 16)
  return { fires: fires.map(text), next: next === undefined ? undefined : text(next) }
}

describe('due times of a schedule', () => {
  it('are none before the planned time', () => {
    expect(decided({}, '01T10:00', '01T09:59')).toEqual({ fires: [], next: '01T10:00' })
  })

  it.each(['skip', 'once', 'all'])('are kept with misfire %s when they are on time', (misfire) => {
    expect(decided({ misfire }, '01T10:00', '01T10:01')).toEqual({ fires: ['01T10:00'], next: '01T11:00' })
  })

  it.each([
    ['skip', '01T13:30', []],
    ['skip', '01T14:00', ['01T14:00']],
    ['once', '01T13:30', ['01T13:00']],
    ['once', '01T14:00', ['01T14:00']],
    ['all', '01T13:30', ['01T10:00', '01T11:00', '01T12:00', '01T13:00']],
  ])('are made up for with misfire %s after an outage until %s', (misfire, now, fires) => {
    expect(decided({ misfire }, '01T10:00', now).fires).toEqual(fires)
  })

  it('are limited to the latest ones, as many as the schedule allows', () => {
    expect(decided({ misfire: 'all', maxCatchUp: 3 }, '01T10:00', '31T00:10')).toEqual({
      fires: ['30T22:00', '30T23:00', '31T00:00'],
      next: '31T01:00',
    })
    const often = {
      cron: undefined,
      everySeconds: 1,
      startAt: '2020-01-01T00:00:00Z',
      misfire: 'all',
      maxCatchUp: 2,
    }
    expect(decided(often, '01T10:00', '31T00:10').fires).toHaveLength(2)
  })

  it('have no next time when the schedule ends', () => {
    expect(decided({ endAt: '2026-05-01T11:30:00Z' }, '01T11:00', '01T11:00')).toEqual({
      fires: ['01T11:00'],
      next: undefined,
    })
  })
})

describe('earlier runs', () => {
  it.each([
    ['skip', 0, 'start'],
    ['skip', 1, 'skip'],
    ['queue', 1, 'queue'],
    ['queue', 4, 'skip'],
    ['cancel_previous', 2, 'replace'],
  ] as const)('with overlap %s and %i active result in %s', (overlap, active, begin) => {
    expect(decideOverlap({ overlap, maxCatchUp: 3 }, active)).toBe(begin)
  })
})
