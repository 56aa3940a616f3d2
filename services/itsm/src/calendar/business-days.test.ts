import { describe, expect, it, test } from '@jest/globals'
import {
  ApiError,
  type NewSlaPolicy,
  type SlaCalendarState,
  type SlaTimer,
  weekdays,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { incidents } from '../incident/sample-incidents.fixture.js'
import { incidentEntity } from '../sla/entity/incident-entity.js'
import { explainTimer } from '../sla/policy/explain-routes.js'
import { createPinnedPolicies } from '../sla/policy/pinned-policies.js'
import { samplePolicy } from '../sla/policy/policy.fixture.js'
import { slaCalendar, slaPolicy } from '../sla/policy/policy.js'
import { nine2five } from '../sla/timer/oracle.fixture.js'
import { type Change, slaTimer, type TimerCommand } from '../sla/timer/timer.js'
import { type CalendarHours, createCalendar } from './calendar.js'
import { goalUnitMs } from './measure.js'

const dayMs = goalUnitMs.business_days
const hourMs = 3_600_000
const at = (text: string) => Date.parse(`${text}Z`)
const iso = (text: string) => new Date(at(text)).toISOString()

const office: CalendarHours = {
  ...nine2five('UTC'),
  holidays: [{ date: '2026-03-18', yearly: false, name: 'Founders' }],
  exceptions: [
    { date: '2026-03-13', hours: [{ from: '09:00', to: '13:00' }] },
    { date: '2026-03-21', hours: [{ from: '10:00', to: '11:00' }] },
  ],
}
const days = createCalendar(office, 'business_days')
const due = (from: string, count: number) => {
  const reached = days.addBusinessMs(at(from), count * dayMs)
  return reached === null ? null : new Date(reached).toISOString().slice(0, 16)
}

/** 2 March 2026 is a Monday. */
describe('a business day', () => {
  test.each([
    ['ends at the same time of the next date', '2026-03-02T10:00', 1, '2026-03-03T10:00'],
    ['passes over the weekend', '2026-03-06T16:00', 1, '2026-03-09T16:00'],
    ['that begins before the doors open ends with them', '2026-03-02T08:00', 1, '2026-03-02T17:00'],
    ['that begins on the weekend is Monday', '2026-03-07T12:00', 1, '2026-03-09T17:00'],
    ['of a short date is that', '2026-03-12T17:00', 1, '2026-03-13T13:00'],
    ['is a half of a long date and a half of a short one', '2026-03-12T13:00', 1, '2026-03-13T11:00'],
    ['is not a holiday', '2026-03-17T10:00', 1, '2026-03-19T10:00'],
    ['is a Saturday that is open for once', '2026-03-20T13:00', 1, '2026-03-21T10:30'],
    ['comes five times a week', '2026-03-02T10:00', 5, '2026-03-09T10:00'],
  ])('%s', (_, from, count, expected) => expect(due(from, count)).toBe(expected))

  it('is one open date, whereas 24 business hours take three office dates', () => {
    const opened = at('2026-03-02T10:00')
    const hours = createCalendar(office).addBusinessMs(opened, 24 * hourMs)
    expect(hours).toBe(at('2026-03-05T10:00'))
    expect(days.addBusinessMs(opened, dayMs)).toBe(at('2026-03-03T10:00'))
  })

  it('counts as one day when daylight saving time starts or ends', () => {
    const always = Object.fromEntries(weekdays.map((day) => [day, [{ from: '00:00', to: '24:00' }]]))
    const berlin = { timeZone: 'Europe/Berlin', week: always, holidays: [], exceptions: [] }
    const calendar = createCalendar(berlin, 'business_days')
    const [spring, autumn] = [at('2026-03-28T23:00'), at('2026-10-24T22:00')]
    expect(calendar.businessMsBetween(spring, spring + 23 * hourMs)).toBe(dayMs)
    expect(calendar.addBusinessMs(spring, dayMs / 2)).toBe(spring + 11.5 * hourMs)
    expect(calendar.businessMsBetween(autumn, autumn + 25 * hourMs)).toBe(dayMs)
    expect(calendar.addBusinessMs(autumn, dayMs)).toBe(autumn + 25 * hourMs)
  })

  it('is skipped if its only open hours fall into the daylight saving gap', () => {
    const week = Object.fromEntries(weekdays.map((day) => [day, [{ from: '02:00', to: '03:00' }]]))
    const berlin = { timeZone: 'Europe/Berlin', week, holidays: [], exceptions: [] }
    const saturday = at('2026-03-28T01:30')
    expect(createCalendar(berlin, 'business_days').addBusinessMs(saturday, dayMs)).toBe(
      at('2026-03-30T00:30'),
    )
  })

  it('counts once if the clock is set back over midnight and two dates alternate', () => {
    const always = Object.fromEntries(weekdays.map((day) => [day, [{ from: '00:00', to: '24:00' }]]))
    const hours = { timeZone: 'America/St_Johns', week: always, holidays: [], exceptions: [] }
    const calendar = createCalendar(hours, 'business_days')
    // 7 November 2010: at 00:01 the clock was set back to 23:01 of the previous day.
    const [from, to] = [at('2010-11-06T02:30'), at('2010-11-08T03:30')]
    expect(calendar.businessMsBetween(from, to)).toBe(2 * dayMs)
    // 7 November has 24 hours and one minute; `minute` is the first of these 1,441 minutes.
    const minute = at('2010-11-07T02:30')
    expect(calendar.businessMsBetween(minute, minute + 60_000)).toBe(59_958)
  })

  it('of one open minute maps each fraction to the first millisecond that reaches it', () => {
    const week = { monday: [{ from: '09:00', to: '09:01' }] }
    const calendar = createCalendar({ ...nine2five('UTC'), week }, 'business_days')
    const monday = at('2026-03-02T09:00')
    expect(calendar.businessMsBetween(monday, monday + 1)).toBe(1_440)
    expect(calendar.addBusinessMs(monday, 1_440)).toBe(monday + 1)
    expect(calendar.addBusinessMs(monday, 1_441)).toBe(monday + 2)
    expect(calendar.addBusinessMs(monday + 59_999, 1_441)).toBe(monday + 7 * 24 * hourMs + 1)
  })
})

const policy = samplePolicy(iso('2026-03-01T00:00'), {
  ...{ goals: { critical: 1, medium: 2 }, goalUnit: 'business_days' },
  calendarId: 'cal_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
})
const calendar: SlaCalendarState = {
  ...{ id: 'cal_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Office', ...office, revision: 1 },
  ...{ createdAt: policy.createdAt, updatedAt: policy.updatedAt },
}
const terms = createPinnedPolicies().present(policy, calendar)

describe('an SLA clock in business days', () => {
  const happened = (version: number, when: string, incident: object): Change => {
    const entity = incidentEntity.facts({ ...incidents.open, ...incident })
    return { eventId: `evt_${version}`, version, at: iso(when), entity }
  }
  const history = [
    happened(1, '2026-03-05T13:00', {}),
    happened(2, '2026-03-06T13:00', { ...incidents.on_hold, holdReason: 'awaiting_vendor' }),
    happened(3, '2026-03-10T11:00', incidents.in_progress),
    happened(4, '2026-03-10T12:00', { ...incidents.in_progress, severity: 'critical' }),
  ]
  const run = (count: number, until: string): { types: string[]; state: SlaTimer } => {
    const [first, ...rest] = history.slice(0, count)
    if (!first) throw new Error('nothing happened')
    const commands: TimerCommand[] = [
      { kind: 'start', id: 'tmr_1', history: [first], terms, now: first.at },
      ...rest.map((change) => ({ kind: 'apply' as const, change, terms, nextTerms: terms, now: change.at })),
      { kind: 'fire', until: iso(until), terms, now: iso(until) },
    ]
    const types: string[] = []
    let state: SlaTimer | null = null
    for (const command of commands) {
      const decisions = specify(slaTimer).given(state).when(command).decisions()
      types.push(...decisions.map(({ type }) => type))
      state = decisions.at(-1)?.after ?? state
    }
    if (!state) throw new Error('no clock')
    return { types, state }
  }

  it('warns at its warning threshold and is due on the right date', () => {
    const { state } = run(1, '2026-03-05T13:01')
    expect(state).toMatchObject({
      goalUnit: 'business_days',
      goalMs: 2 * dayMs,
      dueAt: iso('2026-03-09T13:00'),
      nextFireAt: iso('2026-03-06T13:00'),
    })
  })

  it('stops while paused, and sums up its running intervals', () => {
    const { types, state } = run(3, '2026-03-10T11:30')
    expect(types).toEqual(['sla.started', 'sla.paused', 'sla.warning', 'sla.resumed'])
    expect(state.dueAt).toBe(iso('2026-03-11T11:00'))
    const now = explainTimer(state, terms, iso('2026-03-10T15:00'))
    expect(now.intervals.map(({ state, countedMs }) => [state, countedMs / dayMs])).toEqual([
      ['running', 0.5],
      ['closed', 0],
      ['running', 0.5],
      ['paused', 0],
      ['running', 0.5],
    ])
    expect(now).toMatchObject({ elapsedMs: 1.5 * dayMs, remainingMs: 0.5 * dayMs })
  })

  it('dates the breach in the past if a new severity sets a goal that has already passed', () => {
    const { types, state } = run(4, '2026-03-10T12:30')
    expect(types.slice(-2)).toEqual(['sla.retargeted', 'sla.breached'])
    expect(state).toMatchObject({ cycle: 2, goalMs: dayMs, breachedAt: iso('2026-03-06T13:00') })
  })

  it('replaces its goal in minutes when the policy is reapplied', () => {
    const inMinutes = { ...policy, goals: { medium: 960 }, goalUnit: 'minutes' as const }
    const before = createPinnedPolicies().present(inMinutes, calendar)
    const [first] = history
    if (!first) throw new Error('nothing happened')
    const start = { kind: 'start', id: 'tmr_1', history: [first], now: first.at } as const
    const [started] = slaTimer.decide({ ...start, terms: before }, null)
    expect(started?.after).toMatchObject({ goalUnit: 'minutes', dueAt: iso('2026-03-09T13:00') })
    const changed = createPinnedPolicies().present({ ...policy, goals: { medium: 7 }, revision: 2 }, calendar)
    specify(slaTimer)
      .given(started?.after ?? null)
      .when({ kind: 'reapply', history: [first], terms: changed, now: iso('2026-03-05T14:00') })
      .emits({
        type: 'sla.retargeted',
        changes: {
          ...{ policyRevision: 2, goalUnit: 'business_days', goalMs: 7 * dayMs, cycle: 2 },
          ...{ dueAt: iso('2026-03-16T13:00'), nextFireAt: iso('2026-03-10T17:00') },
          updatedAt: iso('2026-03-05T14:00'),
        },
        extras: { cause: 'policy' },
      })
  })
})

describe('an SLA policy in business days', () => {
  const now = iso('2026-03-02T00:00')
  const input: NewSlaPolicy = {
    ...{ name: 'Gold', entityType: 'incident', metric: 'resolution', goals: { critical: 1 } },
    ...{ warnings: [50], escalations: [] },
    ...{
      goalUnit: 'business_days',
      calendarId: calendar.id,
      conditions: {},
      pauseStatuses: [],
      status: 'active',
    },
  }
  const refused = (decide: () => unknown) => {
    try {
      decide()
    } catch (error) {
      if (error instanceof ApiError) return error.details.map(({ path, code }) => [path, code])
      throw error
    }
    return []
  }
  const create = (fields: Partial<NewSlaPolicy>, of: SlaCalendarState | null = calendar) =>
    slaPolicy.decide(
      { kind: 'create', id: policy.id, input: { ...input, ...fields }, calendar: of, now },
      null,
    )
  const patch = (patch: object, of: SlaCalendarState | null = calendar) =>
    slaPolicy.decide({ kind: 'patch', patch, calendar: of, now }, policy)

  it('requires a calendar, which cannot be removed', () => {
    expect(create({}).map(({ after }) => after)).toMatchObject([{ goalUnit: 'business_days' }])
    const needed = [['/calendarId', 'calendar_needed']]
    expect(refused(() => create({ calendarId: null }, null))).toEqual(needed)
    expect(refused(() => patch({ calendarId: null }, null))).toEqual(needed)
  })

  it('rejects goals of more business days than its calendar has in a year', () => {
    const mondays = { ...calendar, week: { monday: [{ from: '09:00', to: '17:00' }] }, exceptions: [] }
    expect(refused(() => create({ goals: { critical: 52 } }, mondays))).toEqual([])
    const beyond = [['/goals/critical', 'goal_beyond_a_year']]
    expect(refused(() => create({ goals: { critical: 54 } }, mondays))).toEqual(beyond)
    const keeping = (goal: number) => {
      const policies = [{ ...policy, goals: { critical: goal } }]
      const patch = { week: mondays.week, exceptions: [] }
      return refused(() => slaCalendar.decide({ kind: 'patch', patch, policies, now }, calendar))
    }
    expect(keeping(52)).toEqual([])
    expect(keeping(54)).toEqual([['/week', 'goal_beyond_a_year']])
  })

  it('changes its goal unit only together with new goals', () => {
    expect(refused(() => patch({ goalUnit: 'minutes' }))).toEqual([['/goals', 'goals_needed']])
    const changes = { goalUnit: 'minutes', goals: { critical: 480 } }
    expect(patch(changes).map(({ after }) => after)).toMatchObject([{ ...changes, revision: 2 }])
    expect(refused(() => patch({ goalUnit: 'business_days', name: 'Silver' }))).toEqual([])
  })
})
