import { describe, expect, it } from '@jest/globals'
import type { IncidentState, SlaTimer } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { aroundTheClock } from '../../calendar/calendar.js'
import { incidents } from '../../incident/sample-incidents.fixture.js'
import { incidentEntity } from '../entity/incident-entity.js'
import { samplePolicy } from '../policy/policy.fixture.js'
import { type Change, type PinnedPolicy, slaTimer } from './timer.js'

const opened = Date.parse('2026-03-02T09:00:00.000Z')
const at = (minutes: number, ms = 0) => new Date(opened + minutes * 60_000 + ms).toISOString()

const policy = samplePolicy(at(0))
const terms: PinnedPolicy = { policy, calendar: aroundTheClock, calendarRevision: null }

let versions = 1
const change = (minutes: number, incident: IncidentState, ms = 0): Change => {
  const version = ++versions
  const entity = incidentEntity.facts(incident)
  return { eventId: `evt_${version}`, version, at: at(minutes, ms), entity }
}
const first = { ...change(0, incidents.open), version: 1 }
const apply = (given: Change) =>
  ({ kind: 'apply', change: given, terms, nextTerms: terms, now: given.at }) as const
const fire = (minutes: number) => ({ kind: 'fire', until: at(minutes), terms, now: at(minutes) }) as const

/** Returns the event types decided one after another, and the final clock. */
function run(...commands: Parameters<typeof slaTimer.decide>[0][]) {
  let state: SlaTimer | null = null
  const types: string[] = []
  const all = [{ kind: 'start', id: 'tmr_1', history: [first], terms, now: at(0) } as const, ...commands]
  for (const command of all) {
    const decisions = specify(slaTimer).given(state).when(command).decisions()
    types.push(...decisions.map(({ type }) => type))
    state = decisions.at(-1)?.after ?? state
  }
  return { types, state }
}

describe('an SLA goal', () => {
  it('is met at the exact instant it is due', () => {
    const { types, state } = run(apply(change(60, incidents.resolved)))
    expect(types).toEqual(['sla.started', 'sla.warning', 'sla.met'])
    expect(state).toMatchObject({ breached: false, nextFireAt: null, dueAt: at(60) })
  })

  it('is missed a millisecond later, even if no sweep ran until then', () => {
    const { types, state } = run(apply(change(60, incidents.resolved, 1)))
    expect(types).toEqual(['sla.started', 'sla.warning', 'sla.breached', 'sla.missed'])
    expect(state).toMatchObject({ breached: true, breachedAt: at(60) })
  })

  it('is reported once, even if it is checked repeatedly', () => {
    expect(run(fire(90), fire(91), fire(900)).types).toEqual(['sla.started', 'sla.warning', 'sla.breached'])
  })

  it('set by a new severity is counted from creation, and breaches immediately if it has passed', () => {
    const { types, state } = run(apply(change(25, { ...incidents.open, severity: 'critical' })))
    expect(types).toEqual(['sla.started', 'sla.retargeted', 'sla.warning', 'sla.breached'])
    expect(state).toMatchObject({ cycle: 2, breachedAt: at(20), dueAt: at(20) })
  })

  it('is not reported again when the severity alternates', () => {
    const [critical, milder] = [{ ...incidents.open, severity: 'critical' as const }, incidents.open]
    const there = change(25, critical)
    const back = change(26, milder)
    const again = change(27, critical)
    const { types, state } = run(apply(there), apply(back), apply(again))
    expect(types.filter((type) => type === 'sla.breached')).toHaveLength(1)
    expect(state).toMatchObject({ cycle: 4, breached: true, breachedAt: at(20) })
  })
})

describe('an SLA clock', () => {
  it('applies each event once, and ignores events older than the last applied one', () => {
    const held = change(10, incidents.on_hold)
    const { types } = run(
      apply(held),
      apply(held),
      apply({ ...first, entity: incidentEntity.facts(incidents.resolved) }),
    )
    expect(types).toEqual(['sla.started', 'sla.paused'])
  })

  it('is canceled permanently with its incident', () => {
    const { types, state } = run(apply(change(10, incidents.canceled)), fire(900))
    expect(types).toEqual(['sla.started', 'sla.canceled'])
    expect(state).toMatchObject({ state: 'canceled', nextFireAt: null })
  })

  it('that turns out not to be due is rescheduled', () => {
    const { state } = run()
    if (state === null) throw new Error('no clock')
    const moved = { ...state, nextFireAt: at(1) }
    specify(slaTimer)
      .given(moved)
      .when(fire(5))
      .emits({
        type: 'sla.retargeted',
        changes: { nextFireAt: at(30), updatedAt: at(5) },
        extras: { cause: 'time_zone' },
      })
  })
})
