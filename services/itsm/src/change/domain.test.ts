import { describe, expect, it } from '@jest/globals'
import {
  type ChangeAction,
  ChangeState,
  type ChangeStatus,
  type ChangeType,
  changeActions,
  changeEvents,
  changeStatuses,
  changeTypes,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { change } from './domain.js'
import { changeIn, createCommand, facts, implementer, now, paths, steps } from './sample-changes.fixture.js'
import { allowedActions } from './transitions.js'

const { given } = specify(change)

/**
 * Resulting status of each action, by status or by type and status. Written out independently of the table in
 * the code.
 */
const common: Partial<Record<ChangeStatus, Partial<Record<ChangeAction, ChangeStatus>>>> = {
  draft: { edit: 'draft', cancel: 'canceled' },
  assess: { edit: 'assess', cancel: 'canceled', hold: 'assess' },
  authorize: { edit: 'authorize', cancel: 'canceled', hold: 'authorize' },
  scheduled: { edit: 'scheduled', implement: 'implementing', cancel: 'canceled', hold: 'scheduled' },
  implementing: {
    edit: 'implementing',
    complete: 'review',
    rollback: 'rolled_back',
    cancel: 'canceled',
    hold: 'implementing',
  },
  review: { edit: 'review', rollback: 'rolled_back', close: 'closed' },
  rolled_back: { edit: 'rolled_back', close: 'closed' },
}
const byType: Record<ChangeType, typeof common> = {
  standard: { draft: { submit: 'scheduled' } },
  normal: {
    draft: { submit: 'assess' },
    assess: { approve: 'authorize', reject: 'draft' },
    authorize: { approve: 'scheduled', reject: 'draft' },
  },
  emergency: { draft: { submit: 'authorize' }, authorize: { approve: 'scheduled', reject: 'draft' } },
}
const eventOf: Record<ChangeAction, string> = {
  edit: 'change.updated',
  submit: 'change.submitted',
  approve: 'change.approval_recorded',
  reject: 'change.approval_recorded',
  implement: 'change.implementation_started',
  complete: 'change.completed',
  rollback: 'change.rolled_back',
  close: 'change.closed',
  cancel: 'change.canceled',
  hold: 'change.updated',
  resume: 'change.updated',
}
const targetOf = (type: ChangeType, status: ChangeStatus, action: ChangeAction) =>
  byType[type][status]?.[action] ?? common[status]?.[action]
/** The actions are reported in their defined order. */
const allowedIn = (type: ChangeType, status: ChangeStatus) =>
  changeActions.filter((action) => targetOf(type, status, action) !== undefined)

const standings = changeTypes.flatMap((type) =>
  changeStatuses.filter((status) => paths[type][status]).map((status) => ({ type, status })),
)

describe.each(standings)('a $type change in $status', ({ type, status }) => {
  const state = changeIn(type, status)

  it('has that status and lists its allowed actions', () => {
    expect(state.status).toBe(status)
    const shown = change.expose(state)
    expect(ChangeState.parse(shown)).toEqual(shown)
    expect(allowedActions(state)).toEqual(allowedIn(type, status))
  })

  it.each(changeActions)('handles the action %s', (action) => {
    const outcome = given(state).when({ ...steps[action], now })
    const target = targetOf(type, status, action)
    if (target === undefined) {
      outcome.fails('invalid_state_transition', { from: status, action, allowed: allowedIn(type, status) })
      return
    }
    const decisions = outcome.decisions()
    expect(decisions[0]?.type).toBe(eventOf[action])
    expect(decisions.at(-1)?.after).toMatchObject({ status: target, id: state.id, updatedAt: now })
    for (const { type: name, after, extras } of decisions) {
      const definition = Object.entries(changeEvents).find(([declared]) => declared === name)?.[1]
      const data = { before: state, after, changes: [], version: 1, ...extras }
      expect(definition?.data.safeParse(data).error).toBeUndefined()
    }
  })

  const holdable = allowedIn(type, status).includes('hold') ? changeActions : []
  if (holdable.length === 0) return
  it.each(holdable)('handles the action %s on hold', (action) => {
    const held = change.decide({ ...steps.hold, now }, state)[0]?.after ?? null
    const outcome = given(held).when({ ...steps[action], now })
    const allowed = ['edit', 'cancel', 'resume']
    if (allowed.includes(action)) expect(outcome.decisions()).toHaveLength(1)
    else outcome.fails('invalid_state_transition', { from: `${status} and on hold`, action, allowed })
  })
})

describe('creating a change', () => {
  it('makes a draft and computes its risk', () => {
    const [decision] = given(null).when(createCommand('normal')).decisions()
    expect(decision).toMatchObject({
      type: 'change.created',
      after: { status: 'draft', risk: 'moderate', approvals: [], conflicts: [], requesterId: 'usr_asker' },
    })
    given(changeIn('normal', 'draft')).when(createCommand('normal')).fails('conflict')
  })

  it.each([
    { plannedStart: null },
    { plannedEnd: null },
    { plannedEnd: '2026-03-07T22:00:00.000Z' },
    { templateId: 'ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' },
  ])('rejects %j', (input) => {
    given(null).when(createCommand('normal', input)).fails('validation_failed')
  })
})

describe('an implemented change', () => {
  const implementing = changeIn('standard', 'implementing')

  it('is closed automatically only if it is a successful standard change', () => {
    const complete = { ...steps.complete, outcome: 'successful' as const, now }
    const done = { outcome: 'successful' as const, actualEnd: now, updatedAt: now }
    given(implementing)
      .when(complete)
      .emits(
        { type: 'change.completed', changes: { ...done, status: 'review' } },
        { type: 'change.closed', changes: { status: 'closed' } },
      )
    given(changeIn('normal', 'implementing'))
      .when(complete)
      .emits({ type: 'change.completed', changes: { ...done, status: 'review' } })
    for (const outcome of ['unsuccessful', 'successful_with_issues'] as const)
      given(implementing)
        .when({ ...complete, outcome })
        .emits({ type: 'change.completed', changes: { ...done, outcome, status: 'review' } })
  })

  it('is unsuccessful once it is rolled back, even after completion', () => {
    given(implementing)
      .when({ kind: 'rollback', userId: implementer, closeNotes: 'Slower.', now })
      .emits({
        type: 'change.rolled_back',
        changes: {
          status: 'rolled_back',
          outcome: 'unsuccessful',
          actualEnd: now,
          closeNotes: 'Slower.',
          updatedAt: now,
        },
      })
    given(changeIn('normal', 'review'))
      .when({ ...steps.rollback, now })
      .emits({
        type: 'change.rolled_back',
        changes: { status: 'rolled_back', outcome: 'unsuccessful', updatedAt: now },
      })
  })

  it('cannot be reviewed by its assignee', () => {
    for (const status of ['review', 'rolled_back'] as const)
      given(changeIn('normal', status))
        .when({ ...steps.close, userId: implementer, now })
        .fails('forbidden')
  })

  it('keeps its assignee until the review is over', () => {
    for (const status of ['review', 'rolled_back'] as const)
      given(changeIn('normal', status))
        .when({ kind: 'edit', userId: 'usr_boss', patch: { assigneeId: 'usr_other' }, facts, now })
        .fails('validation_failed')
  })
})
