import { describe, expect, it } from '@jest/globals'
import { ApiError, type SlaEscalation, SlaPolicyState, type SlaTimer } from '@opsplane/contracts'
import { incidents } from '../../incident/sample-incidents.fixture.js'
import { maxWatchers } from '../../incident/watchers.js'
import { checkEscalations, dueFirings, type Firing, planSteps } from './escalation-rules.js'

const at = '2026-03-02T09:00:00.000Z'
/** A policy as stored before escalations existed. */
const stored = {
  id: 'slp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  name: 'Gold',
  entityType: 'incident',
  metric: 'resolution',
  goalsBy: 'all',
  goals: { all: 60 },
  calendarId: null,
  conditions: {},
  pauseReasons: [],
  pauseStatuses: [],
  warnings: [50],
  status: 'active',
  revision: 1,
  activeSince: at,
  createdAt: at,
  updatedAt: at,
}
const policy = SlaPolicyState.parse(stored)
const critical: SlaEscalation = { atPercent: 50, severity: 'critical' }

describe('escalation rules', () => {
  const refused = (fields: Partial<SlaPolicyState>) => {
    try {
      checkEscalations({ ...policy, ...fields })
      return null
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const [detail] = error.details
      return [detail?.path, detail?.code]
    }
  }

  it('are rejected for other entity types, for percentages that are not reported, and without an effect', () => {
    const wrongPercent: SlaEscalation = { atPercent: 51, severity: 'critical' }
    expect(refused({ escalations: [critical], entityType: 'problem' })).toEqual([
      '/escalations',
      'unfit_escalations',
    ])
    expect(refused({ escalations: [critical, wrongPercent] })).toEqual([
      '/escalations/1/atPercent',
      'no_warning',
    ])
    expect(refused({ escalations: [critical], warnings: [] })).toEqual([
      '/escalations/0/atPercent',
      'no_warning',
    ])
    expect(refused({ escalations: [{ atPercent: 100 }] })).toEqual(['/escalations/0', 'does_nothing'])
  })

  it('are accepted at a warning and at the breach, and other entity types are accepted without rules', () => {
    expect(refused({ escalations: [critical, { atPercent: 100, assigneeId: 'usr_lead' }] })).toBeNull()
    expect(refused({ entityType: 'request' })).toBeNull()
  })
})

describe('the effect of an escalation rule on an incident', () => {
  const { open } = incidents
  const steps = (rule: Partial<SlaEscalation>, fields: Partial<typeof open> = {}) =>
    planSteps({ atPercent: 50, ...rule }, { ...open, ...fields }, 'why').steps

  it('is that of a PATCH, in the same order', () => {
    const rule = {
      severity: 'critical' as const,
      assignmentGroup: 'duty',
      escalateTo: 'usr_boss',
      assigneeId: 'usr_lead',
      watcherIds: ['usr_one', 'usr_boss'],
    }
    expect(steps(rule)).toEqual([
      {
        kind: 'escalate',
        severity: 'critical',
        assignmentGroup: 'duty',
        escalateTo: 'usr_boss',
        reason: 'why',
      },
      { kind: 'assign', assigneeId: 'usr_lead' },
      { kind: 'edit', fields: { watcherIds: [...open.watcherIds, 'usr_boss', 'usr_one'] } },
    ])
  })

  it('is empty if the incident meets the rule already, and never lowers the severity', () => {
    expect(steps({ severity: 'high' }, { severity: 'critical' })).toEqual([])
    expect(steps({ severity: 'high' }, { severity: 'high' })).toEqual([])
    expect(steps({ assignmentGroup: 'duty' }, { assignmentGroup: 'duty' })).toEqual([])
    expect(steps({ assigneeId: 'usr_lead' }, { assigneeId: 'usr_lead' })).toEqual([])
    expect(steps({ watcherIds: ['usr_one'] }, { watcherIds: ['usr_one'] })).toEqual([])
  })

  it('includes an escalation to a current watcher', () => {
    expect(steps({ escalateTo: 'usr_boss' }, { watcherIds: ['usr_boss'] })).toEqual([
      { kind: 'escalate', escalateTo: 'usr_boss', reason: 'why' },
    ])
  })

  it('excludes only the watchers beyond the maximum', () => {
    const almost = Array.from({ length: maxWatchers - 1 }, (_, one) => `usr_${one}`)
    const rule: SlaEscalation = { ...critical, watcherIds: ['usr_a', 'usr_b'] }
    expect(planSteps(rule, { ...open, watcherIds: almost }, 'why')).toEqual({
      steps: [
        { kind: 'escalate', severity: 'critical', reason: 'why' },
        { kind: 'edit', fields: { watcherIds: [...almost, 'usr_a'] } },
      ],
      left: ['usr_b'],
    })
    const full = { ...open, watcherIds: [...almost, 'usr_last'] }
    expect(planSteps({ ...critical, escalateTo: 'usr_boss' }, full, 'why')).toEqual({
      steps: [{ kind: 'escalate', severity: 'critical', reason: 'why' }],
      left: ['usr_boss'],
    })
  })
})

describe('escalation rules for reported thresholds', () => {
  const timer = { id: 'tmr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' } as SlaTimer
  const ruled = { ...policy, escalations: [critical] }
  const firing = (version: number, percent: number, by = ruled): Firing => ({
    eventId: `evt_${version}`,
    version,
    percent,
    timer,
    policy: by,
  })
  const due = (after: number, ...firings: Firing[]) =>
    dueFirings(firings, after).map(({ version }) => version)

  it('are due if the threshold is new and has rules', () => {
    const breach = { ...policy, escalations: [{ ...critical, atPercent: 100 }] }
    expect(due(0, firing(2, 50), firing(3, 75), firing(4, 100, breach))).toEqual([2, 4])
    expect(due(2, firing(2, 50), firing(3, 75), firing(4, 100, breach))).toEqual([4])
    expect(due(4, firing(2, 50), firing(4, 100, breach))).toEqual([])
  })

  it('are due once per threshold, under any goal', () => {
    expect(due(0, firing(2, 50), firing(5, 50))).toEqual([2])
    expect(due(2, firing(2, 50), firing(5, 50))).toEqual([])
  })

  it('are due again in the next span', () => {
    const later = { ...timer, startedAt: '2026-03-02T12:00:00.000Z' }
    expect(due(2, firing(2, 50), { ...firing(5, 50), timer: later })).toEqual([5])
  })

  it('are due at a threshold that had no rules when it was reached before', () => {
    expect(due(2, firing(2, 50, policy), firing(5, 50))).toEqual([5])
  })
})
