import { describe, expect, it } from '@jest/globals'
import { ApprovalRule, type ChangePatch, type ChangePolicyState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import type { ChangeStep } from '../commands.js'
import { change } from '../domain.js'
import {
  approvalIds,
  approver,
  changeIn,
  facts,
  implementer,
  now,
  person,
  requester,
  secondApprover,
  steps,
  technicalApprover,
} from '../sample-changes.fixture.js'
import { type ChangeRecord, maxContributors } from './separation-of-duties.js'

const { given } = specify(change)
const edit = (userId: string, patch: ChangePatch) => ({ kind: 'edit', userId, patch, facts }) as const
const by = (userId: string) => ({ by: person(userId), userId, now })
const approve = (userId: string) => ({ kind: 'approve', ...by(userId), approvalIds }) as const
const then = (state: ChangeRecord, ...path: ChangeStep[]): ChangeRecord =>
  path.reduce((current, step) => {
    const next = change.decide({ ...step, now }, current).at(-1)?.after
    if (!next) throw new Error('The step leads nowhere.')
    return next
  }, state)
const people = (count: number) => Array.from({ length: count }, (_, index) => `usr_${index}`)
const draft = changeIn('normal', 'draft')
const implementing = changeIn('normal', 'implementing')

/** A patch for every field of a draft that people write. */
const written: ChangePatch[] = [
  { title: 'Another' },
  { description: 'Why.' },
  { type: 'emergency' },
  { ciIds: ['ci_other'] },
  { plannedStart: '2026-03-07T23:00:00.000Z' },
  { plannedEnd: '2026-03-08T03:00:00.000Z' },
  { implementationPlan: 'Otherwise.' },
  { testPlan: 'Look.' },
  { backoutPlan: 'Otherwise.' },
  { impact: 'high' },
  { successProbability: 1 },
]

describe('an editor of a change', () => {
  it.each(written)('can neither approve nor reject it: %j', (patch) => {
    const submitted = then(draft, edit(secondApprover, patch), steps.submit)
    given(submitted).when(approve(secondApprover)).fails('forbidden')
    given(submitted)
      .when({ kind: 'reject', ...by(secondApprover), reason: 'No.' })
      .fails('forbidden')
    expect(() => change.decide(approve(secondApprover), submitted)).toThrow(
      'An editor of this change cannot decide',
    )
    expect(then(submitted, approve(approver)).approvals[0]?.status).toBe('approved')
  })

  it('is also excluded from the second stage', () => {
    const authorize = then(draft, edit(secondApprover, { title: 'Another' }), steps.submit, approve(approver))
    expect(authorize.status).toBe('authorize')
    given(authorize).when(approve(secondApprover)).fails('forbidden')
  })

  it('stays excluded when others submit the change again, or edit it after approval', () => {
    const submitted = then(draft, edit(secondApprover, { title: 'Another' }), steps.submit)
    const rejected = then(submitted, { kind: 'reject', ...by(approver), reason: 'Not yet.' })
    const approved = then(submitted, approve(approver), {
      ...approve(technicalApprover),
      approvalIds: ['apr_next'],
    })
    expect(approved.status).toBe('scheduled')
    for (const state of [rejected, then(approved, edit(approver, { testPlan: 'Look.' }))]) {
      const again = then(state, { ...steps.submit, approvalIds: ['apr_again'] })
      given(again).when(approve(secondApprover)).fails('forbidden')
    }
  })

  it('is not someone who only implements it, whereas its approvers cannot implement it', () => {
    const next = { ...approve(approver), approvalIds: ['apr_next'] }
    const scheduled = then(draft, steps.submit, next, approve(secondApprover))
    for (const userId of [approver, secondApprover]) {
      given(scheduled)
        .when({ ...steps.implement, userId, now })
        .fails('forbidden')
      given(then(scheduled, steps.implement))
        .when({ ...steps.complete, userId, now })
        .fails('forbidden')
    }
    expect(then(scheduled, steps.implement, steps.complete).status).toBe('review')
  })

  it('stays excluded although they approved the change before editing it', () => {
    const edited = then(changeIn('normal', 'authorize'), edit(technicalApprover, { title: 'Better' }))
    const again = then(edited, { ...steps.submit, approvalIds: ['apr_again'] })
    given(again).when(approve(technicalApprover)).fails('forbidden')
    expect(then(again, approve(secondApprover)).status).toBe('authorize')
  })

  it('is not someone who only routes the change or reorders its items', () => {
    const state = changeIn('normal', 'draft', { ciIds: ['ci_a', 'ci_b'] })
    const patch = { assignmentGroup: 'db', assigneeId: 'usr_new', problemId: null, ciIds: ['ci_b', 'ci_a'] }
    const routed = then(state, edit(secondApprover, patch), steps.submit)
    expect(then(routed, approve(secondApprover)).approvals[0]?.status).toBe('approved')
  })

  it('is not someone who only changes fields that approvals do not cover', () => {
    const assess = changeIn('normal', 'assess')
    const same = then(assess, edit(secondApprover, { successProbability: 80, assignmentGroup: 'db' }))
    expect(same.status).toBe('assess')
    expect(then(same, approve(secondApprover)).approvals[0]?.status).toBe('approved')
  })

  it('does not count as an available approver for a quorum', () => {
    const policy: ChangePolicyState = {
      ...{ id: 'cpl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Board', order: 1, conditions: {} },
      ...{ status: 'active', createdAt: now, updatedAt: now },
      technical: [
        ApprovalRule.parse({ name: 'Both', approverIds: [approver, secondApprover], waitFor: { count: 2 } }),
      ],
      authorization: [ApprovalRule.parse({ name: 'Anyone' })],
      distinctApprovers: false,
    }
    const submit = { ...steps.submit, policies: [policy], now }
    expect(given(draft).when(submit).decisions()).toHaveLength(1)
    given(then(draft, edit(secondApprover, { title: 'Another' })))
      .when(submit)
      .fails('validation_failed')
  })

  it('is remembered, and edits by further people are rejected once the list is full', () => {
    const written = people(maxContributors).reduce(
      (state, userId, index) => then(state, edit(userId, { title: `Title ${index}` })),
      draft,
    )
    const late = 'usr_late'
    given(written)
      .when({ ...edit(late, { title: 'One more' }), now })
      .fails('forbidden')
    const submitted = then(written, edit('usr_0', { title: 'The last' }), steps.submit)
    for (const userId of people(maxContributors)) given(submitted).when(approve(userId)).fails('forbidden')
    expect(then(submitted, approve(late)).approvals[0]?.status).toBe('approved')
  })
})

describe('an implementer of a change', () => {
  const completed = (state: ChangeRecord, userId = 'usr_new') => then(state, { ...steps.complete, userId })
  const close = (userId: string) => ({ kind: 'close', userId, now }) as const

  it('cannot review it after handing it over', () => {
    const handedOver = then(implementing, edit(approver, { assigneeId: 'usr_new' }))
    for (const state of [completed(handedOver), then(handedOver, { ...steps.rollback, userId: 'usr_new' })]) {
      for (const userId of [implementer, 'usr_new']) given(state).when(close(userId)).fails('forbidden')
      expect(() => change.decide(close(implementer), state)).toThrow(
        'An implementer of this change cannot review',
      )
      expect(then(state, close(approver)).status).toBe('closed')
    }
  })

  it('cannot review it after being an intermediate assignee, even if no assignee is left', () => {
    const passed = then(
      implementing,
      edit(approver, { assigneeId: secondApprover }),
      edit(approver, { assigneeId: 'usr_new' }),
      edit(approver, { assigneeId: null }),
    )
    for (const userId of [implementer, secondApprover, 'usr_new'])
      given(completed(passed)).when(close(userId)).fails('forbidden')
  })

  it.each<[string, ChangeStep[]]>([
    ['begun it', [{ ...steps.implement, userId: secondApprover }, steps.complete]],
    [
      'held it up',
      [steps.implement, { ...steps.hold, userId: secondApprover }, steps.resume, steps.complete],
    ],
    [
      'had it go on',
      [steps.implement, steps.hold, { ...steps.resume, userId: secondApprover }, steps.complete],
    ],
    ['completed it', [steps.implement, { ...steps.complete, userId: secondApprover }]],
    ['rolled it back', [steps.implement, { ...steps.rollback, userId: secondApprover }]],
    [
      'rolled it back in its review',
      [steps.implement, steps.complete, { ...steps.rollback, userId: secondApprover }],
    ],
  ])('cannot review it after having %s', (_, path) => {
    const state = then(changeIn('normal', 'scheduled'), ...path)
    for (const userId of [implementer, secondApprover]) given(state).when(close(userId)).fails('forbidden')
    expect(then(state, close(approver)).status).toBe('closed')
  })

  it('cannot write its review notes', () => {
    const review = completed(then(implementing, edit(approver, { assigneeId: 'usr_new' })))
    for (const userId of [implementer, 'usr_new'])
      given(review)
        .when({ ...edit(userId, { reviewNotes: 'All fine.' }), now })
        .fails('forbidden')
    expect(then(review, edit(implementer, { closeNotes: 'It took long.' })).closeNotes).toBe('It took long.')
    expect(then(review, edit(approver, { reviewNotes: 'All fine.' })).reviewNotes).toBe('All fine.')
  })

  it('is not someone whose part ended before implementation started', () => {
    const path = [
      edit(requester, { assigneeId: 'usr_new' }),
      { ...steps.hold, userId: secondApprover },
      steps.resume,
    ]
    const scheduled = then(changeIn('normal', 'scheduled'), ...path)
    const state = completed(then(scheduled, { ...steps.implement, userId: 'usr_new' }))
    for (const userId of [implementer, secondApprover])
      expect(then(state, close(userId)).status).toBe('closed')
  })

  it('is remembered, and further people are rejected once the list is full', () => {
    const many = people(maxContributors - 1).reduce(
      (state, assigneeId) => then(state, edit(approver, { assigneeId })),
      implementing,
    )
    for (const command of [
      edit(approver, { assigneeId: 'usr_late' }),
      { ...steps.complete, userId: 'usr_late' },
      { ...steps.hold, userId: 'usr_late' },
    ])
      given(many)
        .when({ ...command, now })
        .fails('forbidden')
    const review = completed(many, implementer)
    for (const userId of [...people(maxContributors - 1), implementer])
      given(review).when(close(userId)).fails('forbidden')
    expect(then(review, close('usr_late')).status).toBe('closed')
  })
})

it('hides editorIds and implementerIds from the response', () => {
  const shown = change.expose(then(draft, edit(secondApprover, { title: 'Another' })))
  expect(shown).toMatchObject({ title: 'Another' })
  for (const name of ['editorIds', 'implementerIds']) expect(shown).not.toHaveProperty(name)
})
