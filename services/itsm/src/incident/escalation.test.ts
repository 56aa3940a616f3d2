import { describe, expect, it } from '@jest/globals'
import { specify } from '@opsplane/testing'
import { incident } from './domain.js'
import { agent, incidents, now, settings } from './sample-incidents.fixture.js'

const { given } = specify(incident)
const { open } = incidents

describe('hierarchical escalation to a person', () => {
  const to = (escalateTo: string, fields: object = {}) => ({
    ...{ kind: 'escalate' as const, escalateTo, now },
    ...fields,
  })

  it('adds the person as a watcher, and changes neither severity nor team nor status', () => {
    given({ ...open, severity: 'critical', watcherIds: ['usr_1'] })
      .when(to('usr_boss', { reason: 'The board asks.' }))
      .emits({
        type: 'incident.escalated',
        changes: { watcherIds: ['usr_1', 'usr_boss'], escalationLevel: 1, updatedAt: now },
        extras: {
          causes: ['raised_to_person'],
          reason: 'The board asks.',
          level: 1,
          escalatedTo: 'usr_boss',
        },
      })
  })

  it('combines with another team and a higher severity, and can name a current watcher again', () => {
    const [both] = given({ ...open, assignmentGroup: 'web' })
      .when(to('usr_boss', { assignmentGroup: 'db', severity: 'critical' }))
      .decisions()
    expect(both?.extras?.causes).toEqual(['severity_raised', 'group_reassigned', 'raised_to_person'])
    const [again] = given({ ...open, watcherIds: ['usr_boss'], escalationLevel: 4 })
      .when(to('usr_boss'))
      .decisions()
    expect(again).toMatchObject({
      after: { watcherIds: ['usr_boss'], escalationLevel: 5 },
      extras: { level: 5 },
    })
  })

  it('is rejected beyond the maximum number of watchers', () => {
    const watcherIds = Array.from({ length: 100 }, (_, at) => `usr_${at}`)
    given({ ...open, watcherIds })
      .when(to('usr_boss'))
      .fails('conflict')
  })
})

describe('escalating an incident', () => {
  const raised = (changes: object, causes: string[], reason: string | null = null) => ({
    type: 'incident.escalated',
    changes: { ...changes, escalationLevel: 1, updatedAt: now },
    extras: { causes, reason, level: 1, escalatedTo: null },
  })

  it('raises the severity, reassigns the team, or both', () => {
    const when = (command: object) => given(open).when({ kind: 'escalate', now, ...command })
    when({ severity: 'high', reason: 'Revenue.' }).emits(
      raised({ severity: 'high' }, ['severity_raised'], 'Revenue.'),
    )
    when({ assignmentGroup: 'db' }).emits(raised({ assignmentGroup: 'db' }, ['group_reassigned']))
    when({ severity: 'critical', assignmentGroup: 'db' }).emits(
      raised({ severity: 'critical', assignmentGroup: 'db' }, ['severity_raised', 'group_reassigned']),
    )
  })

  it('raises the priority with the severity, to that of a new incident of this severity', () => {
    const { priorityMatrix } = settings
    const when = (state: typeof open, severity?: 'critical') =>
      given(state).when({ kind: 'escalate', now, priorityMatrix, ...(severity && { severity }) })
    const levels = { impact: 'high', urgency: 'high', priority: 'P1' } as const
    when(open, 'critical').emits(raised({ severity: 'critical', ...levels }, ['severity_raised']))
    when(open).emits(raised({ severity: 'high', urgency: 'high', priority: 'P2' }, ['severity_raised']))
    const byHand = { priority: 'P4', reason: 'A test machine.', by: agent, at: now } as const
    when({ ...open, priority: 'P4', priorityOverride: byHand }, 'critical').emits(
      raised({ severity: 'critical' }, ['severity_raised']),
    )
  })

  it('raises the severity by one level if nothing is given', () => {
    given(open)
      .when({ kind: 'escalate', now })
      .emits(raised({ severity: 'high' }, ['severity_raised']))
  })

  it('rejects a lower severity, even together with another team', () => {
    given(open).when({ kind: 'escalate', severity: 'low', now }).fails('validation_failed')
    given(open)
      .when({ kind: 'escalate', severity: 'low', assignmentGroup: 'db', now })
      .fails('validation_failed')
  })

  it('is rejected if it would change nothing', () => {
    given({ ...open, severity: 'critical' })
      .when({ kind: 'escalate', now })
      .fails('validation_failed')
    given(open).when({ kind: 'escalate', severity: 'medium', now }).fails('validation_failed')
    given({ ...open, assignmentGroup: 'db' })
      .when({ kind: 'escalate', assignmentGroup: 'db', now })
      .fails('validation_failed')
  })
})
