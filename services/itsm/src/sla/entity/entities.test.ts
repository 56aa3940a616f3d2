import { describe, expect, it } from '@jest/globals'
import { ApiError, SlaEntityType, type SlaPolicyState, type SlaTimer } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { aroundTheClock } from '../../calendar/calendar.js'
import { samplePolicy } from '../policy/policy.fixture.js'
import { checkPolicy } from '../policy/policy-lint.js'
import { replayTimer } from '../policy/preview.js'
import { elapsedMs } from '../timer/ledger.js'
import { type Change, type PinnedPolicy, slaTimer } from '../timer/timer.js'
import { slaEntities } from './entities.js'
import { incidentEntity } from './incident-entity.js'
import { type TicketState, ticket, ticketEntity } from './other-entity.fixture.js'

const opened = Date.parse('2026-03-02T09:00:00.000Z')
const at = (minutes: number) => new Date(opened + minutes * 60_000).toISOString()

const policy = samplePolicy(at(0), {
  ...{ name: 'Problems', entityType: 'problem', goalsBy: 'priority', goals: { P1: 20, P2: 60 } },
  ...{ pauseReasons: [], pauseStatuses: ['assess'], warnings: [] },
})
const terms = (fields: Partial<SlaPolicyState> = {}): PinnedPolicy => ({
  policy: { ...policy, ...fields },
  calendar: aroundTheClock,
  calendarRevision: null,
})

/** The history of a ticket: the fields changed at each minute. */
const life = (...steps: [minutes: number, fields: Partial<TicketState>][]): Change[] => {
  let state = ticket({})
  return [[0, {}] as const, ...steps].map(([minutes, fields], index) => {
    state = { ...state, ...fields }
    const entity = ticketEntity.facts(state)
    return { eventId: `evt_${index + 1}`, version: index + 1, at: at(minutes), entity }
  })
}
/** Returns the event types decided over the history, and the final clock. */
function run(history: Change[], given: PinnedPolicy) {
  const [first, ...rest] = history
  if (!first) throw new Error('nothing happened')
  const types: string[] = []
  let state: SlaTimer | null = null
  const start = { kind: 'start', id: 'tmr_1', history: [first], terms: given, now: at(0) } as const
  for (const command of [
    start,
    ...rest.map(
      (change) => ({ kind: 'apply', change, terms: given, nextTerms: given, now: change.at }) as const,
    ),
  ]) {
    const decisions = specify(slaTimer).given(state).when(command).decisions()
    types.push(...decisions.map(({ type }) => type))
    state = decisions.at(-1)?.after ?? state
  }
  if (state === null) throw new Error('no clock')
  return { types, state }
}

describe('an SLA clock of another entity type', () => {
  it('runs from creation to the end, pauses in the pause statuses, and resumes when the entity is reopened', () => {
    const history = life(
      [10, { status: 'assess' }],
      [40, { status: 'fix_in_progress' }],
      [50, { status: 'resolved' }],
      [55, { status: 'closed' }],
      [70, { status: 'new' }],
    )
    const { types, state } = run(history, terms())
    expect(types).toEqual(['sla.started', 'sla.paused', 'sla.resumed', 'sla.met', 'sla.resumed'])
    expect(state).toMatchObject({ entityType: 'problem', entityId: ticket({}).id, goalKey: 'P2' })
    expect(state.ledger.map(({ reason }) => reason)).toEqual([null, 'assess', null, 'resolved', null])
    expect(elapsedMs(state.ledger, aroundTheClock, Date.parse(at(75)))).toBe(25 * 60_000)
    expect(state.dueAt).toBe(at(110))
  })

  it('is paused from the start if the entity starts in a pause status', () => {
    const { types, state } = run(life([30, { status: 'assess' }]), terms({ pauseStatuses: ['new'] }))
    expect(types).toEqual(['sla.started', 'sla.resumed'])
    expect(state.dueAt).toBe(at(90))
  })

  it('is retargeted by a new priority, counted from creation, and keeps its pauses', () => {
    const history = life([5, { status: 'assess' }], [30, { priority: 'P1' }], [35, { status: 'new' }])
    const { types, state } = run(history, terms())
    expect(types).toEqual(['sla.started', 'sla.paused', 'sla.retargeted', 'sla.resumed'])
    expect(state).toMatchObject({ goalKey: 'P1', goalMs: 20 * 60_000, cycle: 2, dueAt: at(50) })
  })

  it('reports why it was retargeted', () => {
    const [first, second] = life([5, { priority: 'P1' }])
    if (!first || !second) throw new Error('nothing happened')
    const { state } = run([first], terms())
    const [decision] = specify(slaTimer)
      .given(state)
      .when({ kind: 'apply', change: second, terms: terms(), nextTerms: null, now: second.at })
      .decisions()
    expect(decision).toMatchObject({ type: 'sla.retargeted', extras: { cause: 'priority' } })
  })

  it('is not retargeted by priorities if there is one goal for all', () => {
    const all = terms({ goalsBy: 'all', goals: { all: 60 } })
    const { types, state } = run(life([5, { priority: 'P1' }]), all)
    expect(types).toEqual(['sla.started'])
    expect(state).toMatchObject({ goalKey: 'all', dueAt: at(60) })
  })

  it('is canceled if there is no goal for the priority, and when its entity is canceled', () => {
    const unpressing = run(life([5, { priority: 'P5' }]), terms())
    expect(unpressing.state.ledger.at(-1)?.reason).toBe('policy does not apply')
    const { types, state } = run(life([5, { status: 'closed', canceled: true }]), terms())
    expect(types).toEqual(['sla.started', 'sla.canceled'])
    expect(state.ledger.at(-1)?.reason).toBe('problem canceled')
  })
})

describe('an SLA policy', () => {
  const kinds = { problem: ticketEntity, incident: incidentEntity }
  it.each<[string, Partial<SlaPolicyState> & { entityType?: keyof typeof kinds }, string, string]>([
    ['a metric', { metric: 'response' }, '/metric', 'unfit_metric'],
    ['goals by what is not there', { goalsBy: 'severity', goals: { high: 5 } }, '/goalsBy', 'unfit_goals'],
    ['goals of the other field', { goals: { P1: 5, high: 5 } }, '/goals/high', 'unknown_goal'],
    ['goals for all', { goals: { all: 5 } }, '/goals/all', 'unknown_goal'],
    ['hold reasons', { pauseReasons: ['awaiting_vendor'] }, '/pauseReasons', 'no_hold_reasons'],
    ['statuses', { pauseStatuses: ['assess', 'closed'] }, '/pauseStatuses/1', 'unknown_status'],
    [
      'statuses of another kind',
      { entityType: 'incident', pauseStatuses: ['assess'] },
      '/pauseStatuses/0',
      'unknown_status',
    ],
  ])('is rejected for %s that its entity type does not have', (_, fields, path, code) => {
    const { entityType = 'problem' } = fields
    const check = () => checkPolicy({ ...policy, ...fields }, null, kinds[entityType])
    const details = [expect.objectContaining({ path, code })]
    expect(check).toThrow(expect.objectContaining({ code: 'validation_failed', details }))
    expect(check).toThrow(ApiError)
  })

  it('that fits its entity type is accepted unchanged', () => {
    expect(checkPolicy(policy, null, ticketEntity)).toBe(policy)
  })
})

describe('replaying an SLA clock', () => {
  it('yields the same clock as events and sweeps', () => {
    const history = life([10, { status: 'assess' }], [20, { priority: 'P1' }], [30, { status: 'new' }])
    const { state } = run(history, terms())
    const [breach] = specify(slaTimer)
      .given(state)
      .when({ kind: 'fire', until: at(90), terms: terms(), now: at(90) })
      .decisions()
    expect(breach?.type).toBe('sla.breached')
    expect(replayTimer('tmr_1', history, terms(), at(90))).toEqual(breach?.after)
  })

  it('starts from creation once the policy applies, and yields no clock if it never does', () => {
    const history = life([10, { priority: 'P5' }], [20, { priority: 'P1' }])
    const conditions = { priority: 'P1' }
    expect(replayTimer('tmr_1', history, terms({ conditions }), at(25))).toMatchObject({
      cycle: 1,
      startedAt: at(0),
    })
    expect(replayTimer('tmr_1', history, terms({ conditions: { priority: 'P3' } }), at(25))).toBeNull()
  })
})

it('a description exists for every entity type of an SLA policy', () => {
  expect(slaEntities.map(({ entityType }) => entityType)).toEqual(SlaEntityType.options)
})
