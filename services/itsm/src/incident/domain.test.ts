import { describe, expect, it } from '@jest/globals'
import {
  type IncidentAction,
  IncidentState,
  type IncidentStatus,
  incidentActions,
  incidentStatuses,
  itsmEvents,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { incident } from './domain.js'
import {
  agent,
  comment,
  create,
  createdAt,
  incidents,
  now,
  settings,
  steps,
} from './sample-incidents.fixture.js'

const { given } = specify(incident)
const { open, in_progress: inProgress, on_hold: onHold, resolved } = incidents

/**
 * Resulting status of each action; a missing cell means the action is
 * rejected. Written out independently of the table that the code uses.
 */
const matrix: Record<IncidentStatus, Partial<Record<IncidentAction, IncidentStatus>>> = {
  open: {
    edit: 'open',
    assign: 'in_progress',
    escalate: 'open',
    comment: 'open',
    start: 'in_progress',
    hold: 'on_hold',
    resolve: 'resolved',
    cancel: 'canceled',
  },
  in_progress: {
    edit: 'in_progress',
    assign: 'in_progress',
    escalate: 'in_progress',
    comment: 'in_progress',
    hold: 'on_hold',
    resolve: 'resolved',
    cancel: 'canceled',
  },
  on_hold: {
    edit: 'on_hold',
    assign: 'on_hold',
    escalate: 'on_hold',
    comment: 'on_hold',
    resume: 'in_progress',
    resolve: 'resolved',
    cancel: 'canceled',
  },
  resolved: { edit: 'resolved', comment: 'resolved', reopen: 'in_progress', close: 'closed' },
  closed: {},
  canceled: {},
}

const eventOf: Record<IncidentAction, string> = {
  edit: 'incident.updated',
  assign: 'incident.assigned',
  escalate: 'incident.escalated',
  comment: 'incident.comment_added',
  start: 'incident.updated',
  hold: 'incident.updated',
  resume: 'incident.updated',
  resolve: 'incident.resolved',
  reopen: 'incident.reopened',
  close: 'incident.closed',
  cancel: 'incident.closed',
}

describe('every action in every status', () => {
  const cells = incidentStatuses.flatMap((status) => incidentActions.map((action) => ({ status, action })))

  it.each(cells)('$action while $status', ({ status, action }) => {
    const outcome = given(incidents[status]).when({ ...steps[action], now })
    const target = matrix[status][action]
    if (target === undefined) {
      const allowed = incidentActions.filter((name) => matrix[status][name] !== undefined)
      outcome.fails('invalid_state_transition', { from: status, action, allowed })
      return
    }
    const [decision, ...more] = outcome.decisions()
    expect(more).toEqual([])
    expect(decision?.type).toBe(eventOf[action])
    expect(decision?.after).toMatchObject({ status: target, updatedAt: now, createdAt })
    expect(() => IncidentState.parse(decision?.after)).not.toThrow()
  })
})

describe('creating an incident', () => {
  it('requires only a title', () => {
    given(null)
      .when(create)
      .emits({
        type: 'incident.created',
        changes: {
          id: create.id,
          number: 'INC-1',
          title: 'Checkout answers 502',
          description: null,
          status: 'open',
          severity: 'medium',
          assigneeId: null,
          assignmentGroup: null,
          category: null,
          ciId: null,
          callerId: null,
          tags: [],
          holdReason: null,
          resolutionCode: null,
          resolutionNotes: null,
          resolvedAt: null,
          closedAt: null,
          reopenCount: 0,
          escalationLevel: 0,
          commentCount: 0,
          impact: 'medium',
          urgency: 'medium',
          priority: 'P3',
          priorityOverride: null,
          parentId: null,
          childCount: 0,
          followsParent: false,
          channel: null,
          followsUpOn: null,
          followUpId: null,
          problemId: null,
          changeId: null,
          causedByChangeId: null,
          watcherIds: [],
          majorState: 'none',
          majorProposal: null,
          postIncidentReview: null,
          dedupKey: null,
          alertCount: 0,
          lastAlertAt: null,
          createdBy: agent,
          createdAt,
          updatedAt: createdAt,
        },
      })
  })

  it('emits incident.assigned for a given assignee, which starts the work', () => {
    given(null)
      .when({ ...create, input: { ...create.input, assigneeId: agent.id } })
      .emits(
        { type: 'incident.created', changes: open },
        { type: 'incident.assigned', changes: { assigneeId: agent.id, status: 'in_progress' } },
      )
  })

  it('derives the priority from the given matrix', () => {
    const input = { ...create.input, impact: 'low', urgency: 'high' } as const
    const priorityOf = (command: object) =>
      given(null)
        .when({ ...create, ...command })
        .decisions()[0]?.after?.priority
    expect(priorityOf({ input })).toBe('P3')
    const low = { ...settings.priorityMatrix.low, high: 'P1' }
    expect(priorityOf({ input, settings: { priorityMatrix: { ...settings.priorityMatrix, low } } })).toBe(
      'P1',
    )
  })

  it('counts the alert that opens the incident', () => {
    const [created] = given(null)
      .when({ ...create, input: { ...create.input, dedupKey: 'checkout-5xx' } })
      .decisions()
    expect(created?.after).toMatchObject({
      dedupKey: 'checkout-5xx',
      alertCount: 1,
      lastAlertAt: createdAt,
    })
  })

  it('rejects an id that exists already', () => {
    given(open).when(create).fails('conflict')
  })
})

describe('resolving, reopening, closing, canceling', () => {
  it('resolves with code and notes, and ends the hold', () => {
    given(onHold)
      .when({ ...steps.resolve, now })
      .emits({
        type: 'incident.resolved',
        changes: {
          status: 'resolved',
          holdReason: null,
          resolutionCode: 'fixed',
          resolutionNotes: 'Raised the pool limit.',
          resolvedAt: now,
          updatedAt: now,
        },
      })
  })

  it('increments the reopen count and clears the resolution on reopening', () => {
    given(resolved)
      .when({ kind: 'reopen', reason: 'Still 502.', now })
      .emits({
        type: 'incident.reopened',
        changes: {
          status: 'in_progress',
          reopenCount: 1,
          resolutionCode: null,
          resolutionNotes: null,
          resolvedAt: null,
          updatedAt: now,
        },
        extras: { reason: 'Still 502.' },
      })
  })

  it('distinguishes closing and canceling by the outcome', () => {
    const ended = { closedAt: now, updatedAt: now }
    given(resolved)
      .when({ kind: 'close', now })
      .emits({
        type: 'incident.closed',
        changes: { status: 'closed', ...ended },
        extras: { outcome: 'closed' },
      })
    given(open)
      .when({ kind: 'cancel', now })
      .emits({
        type: 'incident.closed',
        changes: { status: 'canceled', ...ended },
        extras: { outcome: 'canceled' },
      })
  })
})

describe('commenting on an incident', () => {
  const waiting = { ...onHold, holdReason: 'awaiting_caller' as const, callerId: agent.id }
  const added = {
    type: 'incident.comment_added',
    changes: { commentCount: 1, updatedAt: now },
    extras: { comment },
  }

  it('increments the comment count, and adds a row to the list of comments', () => {
    const command = { ...steps.comment, now }
    given(inProgress).when(command).emits(added)
    const [decision] = given(inProgress).when(command).decisions()
    expect(decision && incident.project?.(decision)).toEqual([
      {
        table: 'incident_comments',
        id: comment.id,
        state: comment,
      },
    ])
  })

  it('resumes an incident that waits for its caller when the caller comments', () => {
    given(waiting)
      .when({ ...steps.comment, now })
      .emits(added, {
        type: 'incident.updated',
        changes: { status: 'in_progress', holdReason: null },
        extras: { cause: 'caller' },
      })
  })

  it('keeps the incident on hold for comments of others, and if it waits for something else', () => {
    given({ ...waiting, callerId: 'usr_other' })
      .when({ ...steps.comment, now })
      .emits(added)
    given({ ...waiting, holdReason: 'awaiting_vendor' })
      .when({ ...steps.comment, now })
      .emits(added)
  })
})

describe('alerts of an incident', () => {
  it.each(incidentStatuses)('count only while the incident is active: %s', (status) => {
    const state = { ...incidents[status], dedupKey: 'checkout-5xx', alertCount: 1 }
    const outcome = given(state).when({ kind: 'alert', now })
    if (['open', 'in_progress', 'on_hold'].includes(status)) {
      outcome.emits({
        type: 'incident.updated',
        changes: { alertCount: 2, lastAlertAt: now, updatedAt: now },
      })
    } else outcome.fails('invalid_state_transition')
  })
})

describe('watching an incident', () => {
  const watch = (state: IncidentState, watching: boolean) =>
    given(state).when({ kind: 'watch', userId: agent.id, watching, now })
  const watchers = (watcherIds: string[]) => ({
    type: 'incident.updated',
    changes: { watcherIds, updatedAt: now },
  })

  it('adds or removes one person, and emits nothing if nothing changes', () => {
    const watchedByTwo = { ...open, watcherIds: [agent.id, 'usr_other'] }
    watch(open, true).emits(watchers([agent.id]))
    watch(watchedByTwo, true).emits()
    watch(watchedByTwo, false).emits(watchers(['usr_other']))
    watch(open, false).emits()
  })

  it('is limited to 100 watchers, and rejected once the incident has ended', () => {
    const watcherIds = Array.from({ length: 100 }, (_, at) => `usr_${at}`)
    watch({ ...open, watcherIds }, true).fails('conflict')
    watch(incidents.closed, true).fails('invalid_state_transition')
  })
})

it('declares every emitted event with the schema of its data', () => {
  for (const action of incidentActions) {
    const status = incidentStatuses.find((name) => matrix[name][action] !== undefined) ?? 'open'
    for (const { type, after, extras } of given(incidents[status])
      .when({ ...steps[action], now })
      .decisions()) {
      const definition = Object.entries(itsmEvents).find(([name]) => name === type)?.[1]
      const data = { before: incidents[status], after, changes: [], version: 1, ...extras }
      expect(definition?.data.safeParse(data).error).toBeUndefined()
    }
  }
})
