import { describe, expect, it } from '@jest/globals'
import {
  type IncidentState,
  IncidentState as IncidentStateSchema,
  incidentStatuses,
  itsmEvents,
  type MajorAction,
  MajorState,
  majorActions,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { incident } from '../domain.js'
import { agent, incidents, now, settings } from '../sample-incidents.fixture.js'
import { allowedMajorActions, type MajorCommand } from './major.js'

const { given } = specify(incident)
const majorStates = MajorState.options

/**
 * Resulting state of each action; a missing cell means the action is
 * rejected. Written out independently of the table that the code uses.
 */
const matrix: Record<MajorState, Partial<Record<MajorAction, MajorState>>> = {
  none: { propose: 'proposed' },
  proposed: { accept: 'accepted', reject: 'rejected' },
  accepted: { demote: 'demoted' },
  rejected: { propose: 'proposed' },
  demoted: { propose: 'proposed' },
}
const decide = (action: MajorAction, userId = 'usr_grace'): MajorCommand => ({
  kind: 'major',
  action,
  by: agent,
  userId,
  reason: 'Payments fail.',
  now,
})
const proposal = { by: agent, userId: agent.id, reason: null, at: now }
const inState = (majorState: MajorState, from: IncidentState = incidents.open): IncidentState => ({
  ...from,
  majorState,
  majorProposal: majorState === 'none' ? null : proposal,
})

describe('every major-incident action in every major state', () => {
  const cells = majorStates.flatMap((state) => majorActions.map((action) => ({ state, action })))

  it.each(cells)('$action while $state', ({ state, action }) => {
    const from = inState(state)
    const to = matrix[state][action]
    if (to === undefined) {
      const allowed = majorActions.filter((name) => matrix[state][name] !== undefined)
      given(from).when(decide(action)).fails('invalid_state_transition', { from: state, action, allowed })
      return
    }
    const reason = 'Payments fail.'
    const proposed = action === 'propose' && {
      majorProposal: { by: agent, userId: 'usr_grace', reason, at: now },
    }
    given(from)
      .when(decide(action))
      .emits({
        type: 'incident.major_changed',
        changes: { majorState: to, updatedAt: now, ...proposed },
        extras: { from: state, to, reason },
      })
    const [decision] = given(from).when(decide(action)).decisions()
    const data = { before: from, after: decision?.after, changes: [], version: 1, ...decision?.extras }
    expect(itsmEvents['incident.major_changed'].data.safeParse(data).error).toBeUndefined()
    expect(IncidentStateSchema.safeParse(decision?.after).error).toBeUndefined()
  })

  it.each(incidentStatuses)(
    'decisions on major incidents are allowed until the incident has ended: %s',
    (status) => {
      const ended = status === 'closed' || status === 'canceled'
      for (const state of majorStates)
        for (const action of majorActions) {
          const from = inState(state, incidents[status])
          const applies = !ended && matrix[state][action] !== undefined
          expect(allowedMajorActions(from).includes(action)).toBe(applies)
          if (ended)
            given(from)
              .when(decide(action))
              .fails('invalid_state_transition', { from: status, action, allowed: [] })
        }
    },
  )
})

it('a proposal must be accepted by another person, and can be withdrawn by its proposer', () => {
  const key = { ...agent, id: 'tok_1', type: 'api_token' as const }
  for (const by of [agent, key])
    given(inState('proposed'))
      .when({ ...decide('accept', agent.id), by })
      .fails('forbidden')
  given(inState('proposed'))
    .when(decide('reject', agent.id))
    .emits({
      type: 'incident.major_changed',
      changes: { majorState: 'rejected', updatedAt: now },
      extras: { from: 'proposed', to: 'rejected', reason: 'Payments fail.' },
    })
})

describe('an accepted major incident', () => {
  const major = inState('accepted', incidents.resolved)
  const close = { kind: 'close', now } as const
  const review = 'The pool was too small.'

  it('can be closed only with a review, also by its proposer', () => {
    given(major).when(close).fails('validation_failed')
    given(major)
      .when({ ...close, cause: 'auto_close' })
      .fails('validation_failed')
    given(major)
      .when({ kind: 'patch', by: agent, settings, patch: { status: 'closed' }, now })
      .fails('validation_failed')
    given({ ...major, postIncidentReview: review })
      .when(close)
      .emits({
        type: 'incident.closed',
        changes: { status: 'closed', closedAt: now, updatedAt: now },
        extras: { outcome: 'closed' },
      })
  })

  it('can receive its review in the request that closes it', () => {
    given(major)
      .when({
        kind: 'patch',
        by: agent,
        settings,
        patch: { status: 'closed', postIncidentReview: review },
        now,
      })
      .emits(
        { type: 'incident.updated', changes: { postIncidentReview: review, updatedAt: now } },
        {
          type: 'incident.closed',
          changes: { status: 'closed', closedAt: now },
          extras: { outcome: 'closed' },
        },
      )
  })

  it('accepts its review only once it is resolved', () => {
    const write = (status?: 'resolved' | 'in_progress') => ({
      kind: 'patch' as const,
      by: agent,
      settings,
      patch: { postIncidentReview: review, ...(status && { status }) },
      now,
    })
    given(incidents.resolved)
      .when(write())
      .emits({ type: 'incident.updated', changes: { postIncidentReview: review, updatedAt: now } })
    given(incidents.in_progress).when(write()).fails('validation_failed')
    given(incidents.in_progress).when(write('resolved')).fails('validation_failed')
    given(incidents.resolved).when(write('in_progress')).fails('validation_failed')
  })

  it('can be closed without a review after it is demoted', () => {
    expect(given(inState('demoted', incidents.resolved)).when(close).decisions()).toHaveLength(1)
  })
})
