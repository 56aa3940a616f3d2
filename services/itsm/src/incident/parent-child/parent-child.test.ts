import { describe, expect, it } from '@jest/globals'
import { type IncidentState, type IncidentStatus, incidentStatuses } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { incident } from '../domain.js'
import { agent, comment, create, incidents, now, settings } from '../sample-incidents.fixture.js'
import { findChildSteps } from './parent-child.js'

const { given } = specify(incident)
const parentId = 'inc_01JZ8Q4D3N5W7X9Y2B4C6D8E0G'
const child = (status: IncidentStatus, followsParent = false): IncidentState => ({
  ...incidents[status],
  parentId,
  followsParent,
})

/**
 * Resulting status of a child; a missing cell means it does not
 * change. Written out independently of the table that the code uses.
 */
const matrix: Record<IncidentStatus, Partial<Record<IncidentStatus, IncidentStatus>>> = {
  open: {},
  in_progress: { open: 'in_progress' },
  on_hold: { open: 'on_hold', in_progress: 'on_hold' },
  resolved: { open: 'resolved', in_progress: 'resolved', on_hold: 'resolved' },
  closed: {},
  canceled: {},
}
/** Resulting status of a child that was put on hold or resolved by its parent. */
const following: typeof matrix = {
  open: { on_hold: 'in_progress', resolved: 'open' },
  in_progress: { on_hold: 'in_progress', resolved: 'in_progress' },
  on_hold: { resolved: 'on_hold' },
  resolved: { on_hold: 'resolved' },
  closed: {},
  canceled: {},
}

function follow(parent: IncidentState, from: IncidentState): IncidentState {
  let state = from
  for (const step of findChildSteps(parent, state))
    state = incident.decide({ ...step, cause: 'parent', now }, state).at(-1)?.after ?? state
  return state
}

describe('a child that follows its parent', () => {
  const cells = incidentStatuses.flatMap((parent) => incidentStatuses.map((status) => ({ parent, status })))

  it.each(cells)('handles parent $parent, child $status', ({ parent, status }) => {
    const own = follow(incidents[parent], child(status))
    expect(own.status).toBe(matrix[parent][status] ?? status)
    expect(own.followsParent).toBe(own.status !== status && ['on_hold', 'resolved'].includes(own.status))
    // Applying it a second time changes nothing.
    expect(follow(incidents[parent], own)).toEqual(own)
    if (status !== 'on_hold' && status !== 'resolved') return
    const followed = follow(incidents[parent], child(status, true))
    expect(followed.status).toBe(following[parent][status] ?? status)
    expect(followed.followsParent).toBe(['on_hold', 'resolved'].includes(followed.status))
    expect(follow(incidents[parent], followed)).toEqual(followed)
  })

  it("adopts the hold reason and resolution, but does not wait for the parent's caller", () => {
    const waiting: IncidentState = { ...incidents.on_hold, holdReason: 'awaiting_caller' }
    expect(findChildSteps(waiting, child('open'))).toEqual([])
    expect(follow(incidents.on_hold, child('open')).holdReason).toBe(incidents.on_hold.holdReason)
    const { resolutionCode, resolutionNotes } = incidents.resolved
    expect(follow(incidents.resolved, child('open'))).toMatchObject({ resolutionCode, resolutionNotes })
  })
})

describe('a child stops following its parent', () => {
  it.each(['start', 'close', 'reopen'] as const)('after an action of its own: %s', (kind) => {
    const from = kind === 'start' ? child('open') : child('resolved', true)
    const [decision] = given(from).when({ kind, now }).decisions()
    expect(decision?.after?.followsParent).toBe(false)
  })

  it('after a hold reason of its own, which outlasts the hold of the parent', () => {
    const held = child('on_hold', true)
    const patch = { holdReason: 'awaiting_change' } as const
    const [decision] = given(held).when({ kind: 'patch', by: agent, settings, patch, now }).decisions()
    expect(decision?.after).toMatchObject({ status: 'on_hold', followsParent: false })
    expect(follow(incidents.in_progress, held).status).toBe('in_progress')
    expect(follow(incidents.in_progress, { ...held, ...decision?.after }).status).toBe('on_hold')
  })

  it('after it is detached, but not after an edit or a comment', () => {
    const from = child('resolved', true)
    const after = (patch: object) =>
      given(from).when({ kind: 'patch', by: agent, settings, patch, now }).decisions().at(-1)?.after
    expect(after({ title: 'Other' })?.followsParent).toBe(true)
    expect(after({ parentId: null })).toMatchObject({ parentId: null, followsParent: false })
    const words = given(from).when({ kind: 'comment', comment, now }).decisions().at(-1)?.after
    expect(words?.followsParent).toBe(true)
  })
})

describe('the child count of a parent', () => {
  it.each(incidentStatuses)(
    'decreases in status %s, and increases only until the parent has ended',
    (status) => {
      const parent = { ...incidents[status], childCount: 2 }
      given(parent)
        .when({ kind: 'detach', now })
        .emits({ type: 'incident.updated', changes: { childCount: 1, updatedAt: now } })
      const attaching = given(parent).when({ kind: 'attach', now })
      if (status === 'closed' || status === 'canceled') attaching.fails('validation_failed')
      else attaching.emits({ type: 'incident.updated', changes: { childCount: 3, updatedAt: now } })
    },
  )

  it('cannot increase for an incident that has a parent itself', () => {
    given(child('open')).when({ kind: 'attach', now }).fails('validation_failed')
  })
})

it('rejects an incident as its own parent, and a parent for an incident with children', () => {
  const patch = (id: string) => ({
    kind: 'patch' as const,
    by: agent,
    settings,
    patch: { parentId: id },
    now,
  })
  given(incidents.open).when(patch(create.id)).fails('validation_failed')
  given({ ...incidents.open, childCount: 1 })
    .when(patch(parentId))
    .fails('validation_failed')
  given(incidents.open)
    .when(patch(parentId))
    .emits({ type: 'incident.updated', changes: { parentId, updatedAt: now } })
})

describe('comments on an ended incident', () => {
  const solved: IncidentState = { ...child('resolved', true), callerId: agent.id }
  const say = (fields: object = {}) => ({
    kind: 'comment' as const,
    comment: { ...comment, ...fields },
    now,
  })

  it('reopen a resolved incident if the caller writes them', () => {
    given(solved)
      .when(say())
      .emits(
        {
          type: 'incident.comment_added',
          changes: { commentCount: 1, updatedAt: now },
          extras: { comment },
        },
        {
          type: 'incident.reopened',
          changes: {
            status: 'in_progress',
            reopenCount: 1,
            resolutionCode: null,
            resolutionNotes: null,
            resolvedAt: null,
            followsParent: false,
          },
          extras: { reason: 'caller commented', cause: 'caller' },
        },
      )
  })

  it('do not reopen it if another user writes them, or as work notes', () => {
    for (const [state, command] of [
      [{ ...solved, callerId: 'usr_other' }, say()],
      [solved, say({ visibility: 'internal' })],
      [{ ...solved, callerId: null }, say()],
    ] as const)
      expect(given(state).when(command).decisions()).toMatchObject([{ type: 'incident.comment_added' }])
  })

  it('are rejected on a closed incident, which records its follow-up incident', () => {
    const closed = { ...incidents.closed, callerId: agent.id }
    given(closed).when(say()).fails('invalid_state_transition')
    const followUpId = 'inc_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
    given(closed)
      .when({ kind: 'follow_up', followUpId, now })
      .emits({ type: 'incident.updated', changes: { followUpId, updatedAt: now } })
  })
})
