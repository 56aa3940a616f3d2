import { describe, expect, it } from '@jest/globals'
import type { IncidentComment, SlaPolicyState, SlaTimer } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { aroundTheClock } from '../../calendar/calendar.js'
import { incident } from '../../incident/domain.js'
import { comment, create, steps } from '../../incident/sample-incidents.fixture.js'
import type { IncidentStep } from '../../incident/steps.js'
import { incidentEntity } from '../entity/incident-entity.js'
import { samplePolicy } from '../policy/policy.fixture.js'
import { replayTimer } from '../policy/preview.js'
import { elapsedMs, intervals } from './ledger.js'
import { type Change, findStartIndex, type PinnedPolicy, slaTimer, type TimerCommand } from './timer.js'

const opened = Date.parse('2026-03-02T09:00:00.000Z')
const at = (minutes: number) => new Date(opened + minutes * 60_000).toISOString()

const policy = samplePolicy(at(0), { name: 'Every answer', metric: 'next_response' })
const terms = (fields: Partial<SlaPolicyState> = {}): PinnedPolicy => ({
  policy: { ...policy, ...fields },
  calendar: aroundTheClock,
  calendarRevision: null,
})

const says = (userId: string, visibility: IncidentComment['visibility'] = 'public'): IncidentStep => ({
  kind: 'comment',
  comment: { ...comment, visibility, author: { ...comment.author, id: userId }, userId },
})
const asks = says('usr_caller')
const answers = says('usr_agent')
const edit = (fields: object): IncidentStep => ({ kind: 'edit', fields })

/** The history of an incident with a caller, by minute. A step may produce more than one event. */
function life(...given: [minutes: number, step: IncidentStep][]): Change[] {
  const input = { ...create.input, callerId: 'usr_caller' }
  let state = incident.decide({ ...create, now: at(0), input }, null).at(-1)?.after ?? null
  const changes: Change[] = []
  const add = (minutes: number, entity: Change['entity']) => {
    const version = changes.length + 1
    changes.push({ eventId: `evt_${version}`, version, at: at(minutes), entity })
  }
  add(0, incidentEntity.facts(state))
  for (const [minutes, step] of given)
    for (const { type, after, extras } of incident.decide({ ...step, now: at(minutes) }, state)) {
      state = after
      add(minutes, incidentEntity.facts(after, { type, comment: extras?.comment }))
    }
  return changes
}

/** Returns the reported event types from the event the clock starts with, and the final clock. */
function run(history: Change[], given = terms(), nextTerms: PinnedPolicy | null = given, sweptAt?: number) {
  const from = findStartIndex(given.policy, history)
  const types: string[] = []
  let state: SlaTimer | null = null
  const take = (command: TimerCommand) => {
    const decisions = specify(slaTimer).given(state).when(command).decisions()
    types.push(...decisions.map(({ type }) => type))
    state = decisions.at(-1)?.after ?? state
  }
  if (from < 0) return { types, state: null }
  const started = history.slice(0, from + 1)
  take({ kind: 'start', id: 'tmr_1', history: started, terms: given, now: started.at(-1)?.at ?? at(0) })
  let by = given
  for (const change of history.slice(from + 1)) {
    take({ kind: 'apply', change, terms: by, nextTerms, now: change.at })
    const { policyRevision } = state as unknown as SlaTimer
    if (policyRevision === nextTerms?.policy.revision) by = nextTerms
  }
  if (sweptAt !== undefined) take({ kind: 'fire', until: at(sweptAt), terms: by, now: at(sweptAt) })
  return { types, state: state as SlaTimer | null }
}
const reasons = (state: SlaTimer | null) => state?.ledger.map((entry) => [entry.state, entry.reason])

describe('the SLA clock for the next response', () => {
  it('does not exist before the first public comment of the caller', () => {
    expect(run(life([5, answers], [6, says('usr_caller', 'internal')])).types).toEqual([])
    const { types, state } = run(life([10, asks]))
    expect(types).toEqual(['sla.started'])
    expect(state).toMatchObject({ startedAt: at(10), createdAt: at(0), dueAt: at(70), cycle: 1 })
  })

  it('runs from the first unanswered comment to the answer', () => {
    const history = life([10, asks], [20, asks], [25, says('usr_agent', 'internal')], [40, answers])
    const { types, state } = run(history)
    expect(types).toEqual(['sla.started', 'sla.met'])
    expect(reasons(state)).toEqual([
      ['running', null],
      ['completed', 'answered'],
    ])
    expect(elapsedMs(state?.ledger ?? [], aroundTheClock, opened + 9e6)).toBe(30 * 60_000)
  })

  it('restarts as a new cycle with the next comment, and keeps only the reported thresholds', () => {
    const { types, state } = run(life([10, asks], [100, answers], [110, asks]), terms(), terms(), 200)
    expect(types).toEqual([
      ...['sla.started', 'sla.warning', 'sla.breached', 'sla.missed'],
      ...['sla.started', 'sla.warning', 'sla.breached'],
    ])
    expect(state).toMatchObject({ cycle: 2, startedAt: at(110), breachedAt: at(170), breached: true })
    expect(state?.fired.map(({ cycle, percent, at }) => [cycle, percent, at])).toEqual([
      [1, 50, at(40)],
      [1, 100, at(70)],
      [2, 50, at(140)],
      [2, 100, at(170)],
    ])
    const parts = intervals(state?.ledger ?? [], aroundTheClock, opened + 200 * 60_000)
    expect(parts).toMatchObject([{ from: at(110), to: at(200), countedMs: 90 * 60_000 }])
  })

  it('is no longer breached once it restarts, and meets its goal in the new span', () => {
    const { state } = run(life([10, asks], [100, answers], [110, asks], [120, answers]))
    expect(state).toMatchObject({ cycle: 2, state: 'completed', breached: false, breachedAt: null })
  })

  it('recurs indefinitely without growing', () => {
    const said = Array.from({ length: 80 }, (_, n): [number, IncidentStep][] => [
      [n * 100, asks],
      [n * 100 + 90, answers],
    ])
    const { types, state } = run(life(...said.flat()))
    expect(types.filter((type) => type === 'sla.breached')).toHaveLength(80)
    expect(state).toMatchObject({ cycle: 80, breached: true })
    expect(state?.fired).toHaveLength(102)
  })

  it('ends when the incident is resolved, and restarts with the comment that reopens it', () => {
    const history = life([10, asks], [20, steps.resolve], [30, asks])
    expect(history.map(({ entity }) => entity.status)).toEqual([
      ...['open', 'open', 'resolved', 'resolved', 'in_progress'],
    ])
    const { types, state } = run(history)
    expect(types).toEqual(['sla.started', 'sla.met', 'sla.started'])
    expect(state).toMatchObject({ state: 'running', startedAt: at(30), cycle: 2 })
  })

  it('is canceled with its incident', () => {
    const { types, state } = run(life([10, asks], [20, steps.cancel]))
    expect(types).toEqual(['sla.started', 'sla.canceled'])
    expect(reasons(state)?.at(-1)).toEqual(['canceled', 'incident canceled'])
  })

  it('stops while a hold pauses it', () => {
    const { types, state } = run(life([10, asks], [20, steps.hold], [50, steps.resume], [60, answers]))
    expect(types).toEqual(['sla.started', 'sla.paused', 'sla.resumed', 'sla.met'])
    expect(elapsedMs(state?.ledger ?? [], aroundTheClock, opened + 9e6)).toBe(20 * 60_000)
  })

  it('reports the thresholds due under a new severity, even if an earlier span reported them', () => {
    const critical = edit({ severity: 'critical' })
    const history = life([10, asks], [80, answers], [100, asks], [135, critical], [136, answers])
    const { types, state } = run(history)
    expect(types.slice(4)).toEqual([
      ...['sla.started', 'sla.warning', 'sla.retargeted', 'sla.breached', 'sla.missed'],
    ])
    expect(state).toMatchObject({ cycle: 3, breachedAt: at(120), goalMs: 20 * 60_000 })
  })
})

describe('a span under a policy with conditions', () => {
  const vip = terms({ conditions: { category: 'vip' } })
  const [toVip, toOther] = [edit({ category: 'vip' }), edit({ category: 'other' })]

  it('is counted from its start once the policy applies', () => {
    const { types, state } = run(life([10, asks], [30, toVip], [40, answers]), vip)
    expect(types).toEqual(['sla.started', 'sla.met'])
    expect(state).toMatchObject({ startedAt: at(10) })
    expect(elapsedMs(state?.ledger ?? [], aroundTheClock, opened + 9e6)).toBe(30 * 60_000)
  })

  it('has no clock if it ended before the policy applied', () => {
    expect(run(life([10, asks], [20, answers], [30, toVip]), vip).types).toEqual([])
  })

  it('excludes the time in which the policy did not apply', () => {
    const { types, state } = run(life([5, toVip], [10, asks], [20, toOther], [50, toVip], [60, answers]), vip)
    expect(types).toEqual(['sla.started', 'sla.canceled', 'sla.resumed', 'sla.met'])
    expect(elapsedMs(state?.ledger ?? [], aroundTheClock, opened + 9e6)).toBe(20 * 60_000)
  })

  it('does not resume if it was answered while the policy did not apply', () => {
    const { types, state } = run(life([5, toVip], [10, asks], [20, toOther], [30, answers], [50, toVip]), vip)
    expect(types).toEqual(['sla.started', 'sla.canceled', 'sla.canceled'])
    expect(reasons(state)?.slice(1)).toEqual([
      ['canceled', 'policy does not apply'],
      ['canceled', 'answered'],
    ])
  })

  it('that starts while the policy does not apply has a clock once it applies', () => {
    const history = life([5, toVip], [10, asks], [20, answers], [30, toOther], [40, asks], [50, toVip])
    const { types, state } = run(history, vip)
    expect(types).toEqual(['sla.started', 'sla.met', 'sla.canceled', 'sla.started'])
    expect(state).toMatchObject({ cycle: 2, startedAt: at(40), dueAt: at(110), breached: false })
  })
})

describe('the next span of a recurring clock', () => {
  const history = life([10, asks], [20, answers], [30, asks], [40, asks])

  it('uses the current policy', () => {
    const later = terms({ revision: 2, goals: { medium: 30 } })
    const { types, state } = run(history, terms(), later)
    expect(types).toEqual(['sla.started', 'sla.met', 'sla.started'])
    expect(state).toMatchObject({ policyRevision: 2, goalMs: 30 * 60_000, dueAt: at(60) })
  })

  it('does not start if the policy starts no more clocks', () => {
    const { types, state } = run(history, terms(), null)
    expect(types).toEqual(['sla.started', 'sla.met'])
    expect(state).toMatchObject({ cycle: 1, state: 'completed' })
  })

  it('is recomputed when the policy is reapplied', () => {
    const { state } = run(history)
    const later = terms({ revision: 2, goals: { medium: 15 } })
    const [decision, ...others] = specify(slaTimer)
      .given(state)
      .when({ kind: 'reapply', history, terms: later, now: at(41) })
      .decisions()
    expect(others).toEqual([])
    expect(decision).toMatchObject({
      type: 'sla.retargeted',
      after: { cycle: 3, startedAt: at(30), dueAt: at(45), createdAt: at(0) },
    })
  })

  it('is identical after a replay', () => {
    const { state } = run(history, terms(), terms(), 95)
    expect(replayTimer('tmr_1', history, terms(), at(95))).toEqual(state)
  })
})
