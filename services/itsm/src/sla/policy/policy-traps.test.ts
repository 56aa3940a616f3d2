import { describe, expect, it } from '@jest/globals'
import { ApiError, type SlaPolicyState } from '@opsplane/contracts'
import { samplePolicy } from './policy.fixture.js'
import { getEntity } from './policy-lint.js'
import { checkTraps } from './policy-traps.js'

const policy = samplePolicy('2026-03-02T09:00:00.000Z', {
  ...{ goals: { critical: 60 }, pauseReasons: ['awaiting_caller', 'awaiting_vendor'], warnings: [] },
})

/** Policy for changes, which wait for approval in two statuses only. */
const approval: Partial<SlaPolicyState> = {
  ...{ entityType: 'change', metric: 'approval', goalsBy: 'all', goals: { all: 60 }, pauseReasons: [] },
}

/** Returns path and code of the error with which a policy is rejected; `null` if it is accepted. */
function refused(fields: Partial<SlaPolicyState>) {
  const given = { ...policy, ...fields }
  try {
    checkTraps(given, getEntity(given.entityType))
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [detail] = error.details
    return [detail?.path, detail?.code]
  }
}

describe('an SLA policy is rejected', () => {
  it('if its clocks have ended in every status its conditions allow', () => {
    const never = ['/conditions/status', 'never_starts']
    expect(refused({ conditions: { status: 'resolved' } })).toEqual(never)
    expect(refused({ conditions: { status: { in: ['resolved', 'closed', 'canceled'] } } })).toEqual(never)
    expect(refused({ conditions: { status: 'in_progress' }, metric: 'response' })).toEqual(never)
    expect(refused({ conditions: { status: 'resolved' }, metric: 'next_response' })).toEqual(never)
    expect(refused({ ...approval, conditions: { status: { nin: ['assess', 'authorize'] } } })).toEqual(never)
  })

  it('if its rules lead to an incident without a goal, or one its conditions exclude', () => {
    const rules = (rule: Partial<SlaPolicyState['escalations'][number]>, fields = {}) =>
      refused({ goals: { high: 60, medium: 240 }, escalations: [{ atPercent: 100, ...rule }], ...fields })
    const severity = ['/escalations/0/severity', 'cancels']
    expect(rules({ severity: 'critical' })).toEqual(severity)
    expect(rules({ severity: 'high' })).toBeNull()
    expect(rules({ severity: 'low' })).toBeNull()
    const whatever = { goalsBy: 'all', goals: { all: 60 } }
    expect(rules({ severity: 'critical' }, whatever)).toBeNull()
    expect(rules({ severity: 'critical' }, { ...whatever, conditions: { severity: 'high' } })).toEqual(
      severity,
    )
    const ofDesk = { conditions: { assignmentGroup: 'desk' } }
    expect(rules({ assignmentGroup: 'duty' }, ofDesk)).toEqual(['/escalations/0/assignmentGroup', 'cancels'])
    expect(rules({ assignmentGroup: 'desk' }, ofDesk)).toBeNull()
    const unassigned = { conditions: { assigneeId: null } }
    expect(rules({ assigneeId: 'usr_lead' }, unassigned)).toEqual(['/escalations/0/assigneeId', 'cancels'])
    expect(rules({ severity: 'critical' }, { status: 'inactive' })).toBeNull()
  })

  it('if its clocks are paused in every status in which they could run', () => {
    const never = ['/pauseStatuses', 'never_runs']
    expect(refused({ pauseStatuses: ['open', 'in_progress', 'on_hold'] })).toEqual(never)
    expect(refused({ conditions: { status: 'on_hold' }, pauseStatuses: ['on_hold'] })).toEqual(never)
    expect(refused({ metric: 'response', pauseStatuses: ['open'] })).toEqual(never)
    expect(refused({ ...approval, pauseStatuses: ['assess', 'authorize', 'on_hold'] })).toEqual(never)
  })

  it('if its conditions exclude its pauses', () => {
    expect(refused({ conditions: { status: 'open' } })).toEqual(['/pauseReasons/0', 'cancels'])
    expect(refused({ conditions: { status: { ne: 'on_hold' } } })).toEqual(['/pauseReasons/0', 'cancels'])
    expect(refused({ conditions: { status: { ne: 'on_hold' } }, metric: 'next_response' })).toEqual([
      '/pauseReasons/0',
      'cancels',
    ])
    expect(refused({ ...approval, conditions: { status: 'authorize' }, pauseStatuses: ['assess'] })).toEqual([
      '/pauseStatuses/0',
      'cancels',
    ])
    expect(refused({ conditions: { holdReason: { ne: 'awaiting_vendor' } } })).toEqual([
      '/pauseReasons/1',
      'cancels',
    ])
    expect(
      refused({ conditions: { status: { nin: ['on_hold'] } }, pauseReasons: [], pauseStatuses: ['on_hold'] }),
    ).toEqual(['/pauseStatuses/0', 'cancels'])
  })
})

describe('an SLA policy is accepted', () => {
  it.each<[string, Partial<SlaPolicyState>]>([
    ['without conditions', {}],
    ['with conditions on other fields', { conditions: { category: 'vip', severity: { in: ['critical'] } } }],
    [
      'that is there until work begins and has no pauses',
      { conditions: { status: 'open' }, pauseReasons: [] },
    ],
    ['of responses, which no hold can pause', { conditions: { status: 'open' }, metric: 'response' }],
    ['that pauses where its conditions hold', { pauseStatuses: ['open'] }],
    ['that is not switched on', { conditions: { status: 'resolved' }, status: 'inactive' }],
  ])('%s', (_, fields) => expect(refused(fields)).toBeNull())

  it('for changes, which keep their status on hold', () => {
    const change: Partial<SlaPolicyState> = {
      ...{ entityType: 'change', goalsBy: 'all', goals: { all: 60 }, pauseReasons: [] },
    }
    expect(refused({ ...change, conditions: { status: 'scheduled' }, pauseStatuses: ['on_hold'] })).toBeNull()
    expect(
      refused({ ...approval, conditions: { status: 'assess' }, pauseStatuses: ['draft', 'on_hold'] }),
    ).toBeNull()
  })
})
