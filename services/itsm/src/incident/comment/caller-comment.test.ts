import { describe, expect, it } from '@jest/globals'
import type { Actor, IncidentComment, IncidentState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { incidentEntity } from '../../sla/entity/incident-entity.js'
import { incident } from '../domain.js'
import { agent, comment, incidents, now, settings, steps } from '../sample-incidents.fixture.js'

const { given } = specify(incident)
const caller = 'usr_caller'
const key: Actor = { id: 'tok_of_the_caller', name: 'Portal', type: 'api_token' }
const said: IncidentComment = { ...comment, author: key, userId: caller }
const of = (state: IncidentState): IncidentState => ({ ...state, callerId: caller })
const causes = (decisions: { extras?: Record<string, unknown> }[]) =>
  decisions.map(({ extras }) => extras?.cause)

describe('a caller with an API key', () => {
  it('resumes and reopens incidents like a signed-in user', () => {
    const waiting = { ...of(incidents.on_hold), holdReason: 'awaiting_caller' as const }
    const [, resumed] = given(waiting).when({ kind: 'comment', comment: said, now }).decisions()
    expect(resumed).toMatchObject({ after: { status: 'in_progress' }, extras: { cause: 'caller' } })
    const [, reopened] = given(of(incidents.resolved))
      .when({ kind: 'comment', comment: said, now })
      .decisions()
    expect(reopened).toMatchObject({ type: 'incident.reopened', extras: { cause: 'caller' } })
  })

  it('does not count as a response to their own incident', () => {
    const response = (one: IncidentComment) =>
      incidentEntity.facts(of(incidents.open), { comment: one }).response
    expect(response(said)).toBeNull()
    expect(response({ ...comment, author: agent, userId: agent.id })).toBe('answered')
  })
})

describe('the cause of an action on an incident', () => {
  it.each(['close', 'reopen'] as const)('is the caller, and not another user: %s', (kind) => {
    const as = (userId: string) => given(of(incidents.resolved)).when({ ...steps[kind], userId, now })
    expect(causes(as(caller).decisions())).toEqual(['caller'])
    expect(causes(as(agent.id).decisions())).toEqual([undefined])
  })

  it.each(['resolve', 'cancel'] as const)(
    'is the caller, and is absent for an incident without a caller: %s',
    (kind) => {
      const step = { ...steps[kind], userId: caller, now }
      expect(causes(given(of(incidents.open)).when(step).decisions())).toEqual(['caller'])
      expect(causes(given(incidents.open).when(step).decisions())).toEqual([undefined])
    },
  )

  it('is recorded for the action of a PATCH, and not for its edits', () => {
    const patch = { title: 'It works again', status: 'closed' } as const
    const command = { kind: 'patch', by: key, userId: caller, settings, now, patch } as const
    const decisions = given(of(incidents.resolved)).when(command).decisions()
    expect(decisions.map(({ type }) => type)).toEqual(['incident.updated', 'incident.closed'])
    expect(causes(decisions)).toEqual([undefined, 'caller'])
  })
})
