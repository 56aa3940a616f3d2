import { describe, expect, it } from '@jest/globals'
import { type Approval, ApprovalRule, type ChangePolicyState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { change } from '../domain.js'
import {
  after,
  approvalIds,
  approver,
  changeIn,
  createCommand,
  facts,
  implementer,
  now,
  person,
  requester,
  secondApprover,
  steps,
  technicalApprover,
} from '../sample-changes.fixture.js'
import { maxApprovalBytes, maxCommentBytes } from './approval-record.js'
import type { ChangeRecord } from './separation-of-duties.js'

const { given } = specify(change)
const rule = (fields: object) => ApprovalRule.parse({ name: 'Board', ...fields })
const policy = (fields: Partial<ChangePolicyState>): ChangePolicyState => ({
  id: 'cpl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  name: 'Payments',
  order: 1,
  conditions: {},
  technical: [rule({ name: 'Peers' })],
  authorization: [rule({})],
  distinctApprovers: false,
  status: 'active',
  createdAt: now,
  updatedAt: now,
  ...fields,
})
const submitted = (fields: Partial<ChangePolicyState>, type: 'normal' | 'emergency' = 'normal') =>
  after(createCommand(type), { ...steps.submit, policies: [policy(fields)] })
const by = (userId: string) => ({ by: person(userId), userId, now })
const run = (state: ChangeRecord, command: Parameters<typeof change.decide>[0]) => {
  const decisions = change.decide(command, state)
  const last = decisions.at(-1)?.after
  if (!last) throw new Error('Nothing was decided.')
  return { types: decisions.map(({ type }) => type), state: last }
}
const statuses = ({ approvals }: ChangeRecord) => approvals.map(({ status }) => status)

describe('submitting a change', () => {
  it.each([
    [{ plannedStart: null, plannedEnd: null }, ['/plannedStart', '/plannedEnd']],
    [{ implementationPlan: null, backoutPlan: null }, ['/implementationPlan', '/backoutPlan']],
  ])('reports the missing fields of a normal change without %j', (input, missing) => {
    const draft = changeIn('normal', 'draft', input)
    expect(() => change.decide({ ...steps.submit, now }, draft)).toThrow(
      expect.objectContaining({ details: missing.map((path) => expect.objectContaining({ path })) }),
    )
  })

  it('requires no plans for an emergency change', () => {
    const draft = changeIn('emergency', 'draft', { implementationPlan: null, backoutPlan: null })
    expect(run(draft, { ...steps.submit, now }).types).toEqual(['change.submitted'])
  })

  it('lets any approver decide if no policy applies', () => {
    const { state } = run(changeIn('normal', 'draft'), { ...steps.submit, now })
    expect(state.approvals).toMatchObject([
      { name: 'Technical approval', approverIds: null, required: 1, status: 'pending' },
    ])
    expect(state.approvalPolicy).toMatchObject({ id: null, name: 'Default' })
  })

  it('uses the first active policy whose conditions match', () => {
    const policies = [
      policy({ name: 'Off', status: 'inactive' }),
      policy({ name: 'Low', conditions: { risk: 'low' } }),
      policy({ name: 'Moderate', conditions: { risk: 'moderate', type: 'normal' } }),
      policy({ name: 'Rest' }),
    ]
    const { state } = run(changeIn('normal', 'draft'), { ...steps.submit, policies, now })
    expect(state.approvalPolicy?.name).toBe('Moderate')
  })

  it('recomputes the risk before it selects a policy', () => {
    const grave = { ...facts, criticalities: ['critical' as const] }
    const policies = [policy({ name: 'Risky', conditions: { risk: 'high' } })]
    const command = { ...steps.submit, facts: grave, policies, now }
    expect(run(changeIn('normal', 'draft'), command).state).toMatchObject({
      risk: 'high',
      approvalPolicy: { name: 'Risky' },
    })
  })

  it('skips the technical stage of emergency changes', () => {
    expect(submitted({}, 'emergency')).toMatchObject({ status: 'authorize', approvals: [{ name: 'Board' }] })
  })

  it('fails if either stage has a quorum that can never be met', () => {
    const unreachable = [rule({ approverIds: [requester, implementer, approver], waitFor: { count: 2 } })]
    for (const stage of ['technical', 'authorization'] as const) {
      const policies = [policy({ [stage]: unreachable })]
      given(changeIn('normal', 'draft'))
        .when({ ...steps.submit, policies, now })
        .fails('validation_failed')
    }
  })
})

describe('separation of duties', () => {
  it('excludes the requester, the submitter and the implementer from deciding', () => {
    const state = after(createCommand('normal'), { ...steps.submit, userId: secondApprover })
    for (const userId of [requester, implementer, secondApprover]) {
      given(state)
        .when({ kind: 'approve', ...by(userId), approvalIds })
        .fails('forbidden')
      given(state)
        .when({ kind: 'reject', ...by(userId), reason: 'No.' })
        .fails('forbidden')
    }
    const authorize = run(state, { kind: 'approve', ...by(approver), approvalIds: ['apr_next'] }).state
    for (const userId of [requester, implementer, secondApprover])
      given(authorize)
        .when({ kind: 'approve', ...by(userId), approvalIds })
        .fails('forbidden')
  })

  it('excludes a new assignee, and every assignee since approval was requested', () => {
    const { state } = run(changeIn('normal', 'assess'), {
      kind: 'edit',
      userId: requester,
      patch: { assigneeId: secondApprover },
      facts,
      now,
    })
    for (const userId of [implementer, secondApprover])
      given(state)
        .when({ kind: 'approve', ...by(userId), approvalIds })
        .fails('forbidden')
  })

  it('rejects an approver as the assignee', () => {
    for (const status of ['authorize', 'scheduled', 'implementing'] as const)
      given(changeIn('normal', status))
        .when({ kind: 'edit', userId: requester, patch: { assigneeId: technicalApprover }, facts, now })
        .fails('validation_failed')
  })

  it('rejects an assignee without whom too few approvers are left in this stage or the next', () => {
    const both = [rule({ approverIds: [approver, secondApprover], waitFor: { count: 2 } })]
    for (const stage of ['technical', 'authorization'] as const)
      given(submitted({ [stage]: both }))
        .when({ kind: 'edit', userId: requester, patch: { assigneeId: secondApprover }, facts, now })
        .fails('validation_failed')
  })
})

describe('approving a change', () => {
  it('emits change.approved only for the last stage', () => {
    const assess = changeIn('normal', 'assess')
    const first = run(assess, { kind: 'approve', ...by(approver), approvalIds: ['apr_next'] })
    expect(first.types).toEqual(['change.approval_recorded'])
    expect(first.state).toMatchObject({ status: 'authorize' })
    expect(statuses(first.state)).toEqual(['approved', 'pending'])
    const second = run(first.state, { kind: 'approve', ...by(secondApprover), approvalIds })
    expect(second.types).toEqual(['change.approval_recorded', 'change.approved'])
    expect(second.state.status).toBe('scheduled')
  })

  it('requires approvalId from a person who approves the second stage after the first', () => {
    const first = submitted({
      technical: [rule({ name: 'Peers' }), rule({ name: 'Owners' })],
      authorization: [rule({ name: 'Board' }), rule({ name: 'Boss', approverIds: [approver] })],
    })
    const state = run(first, {
      kind: 'approve',
      ...by(approver),
      approvalIds: ['apr_board', 'apr_boss'],
    }).state
    expect(statuses(state)).toEqual(['approved', 'approved', 'pending', 'pending'])
    const again = { kind: 'approve', ...by(approver), approvalIds } as const
    expect(() => change.decide(again, state)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        message:
          'You have already approved Peers and Owners. Send apr_board as approvalId to approve Board as well, ' +
          'or apr_boss as approvalId to approve Boss as well.',
        details: [expect.objectContaining({ path: '/approvalId', code: 'required' })],
      }),
    )
    const board = run(state, { ...again, approvalId: 'apr_board' }).state
    expect(statuses(board)).toEqual(['approved', 'approved', 'approved', 'pending'])
    given(board).when(again).fails('validation_failed')
    expect(run(board, { ...again, approvalId: 'apr_boss' }).state.status).toBe('scheduled')
  })

  it('requires no approvalId from a person who approved no earlier stage of this submission', () => {
    const approve = (userId: string) => ({ kind: 'approve', ...by(userId), approvalIds }) as const
    expect(run(changeIn('emergency', 'authorize'), approve(approver)).state.status).toBe('scheduled')
    const authorize = changeIn('normal', 'authorize')
    const draft = run(authorize, { kind: 'reject', ...by(technicalApprover), reason: 'No.' }).state
    const submit = { ...steps.submit, approvalIds: ['apr_again'], now }
    const again = run(run(draft, submit).state, {
      ...approve(secondApprover),
      approvalIds: ['apr_next'],
    }).state
    expect(again.status).toBe('authorize')
    expect(run(again, approve(technicalApprover)).state.status).toBe('scheduled')
  })

  it('completes the stage only once every rule has its quorum', () => {
    const state = submitted({
      technical: [
        rule({ name: 'Peers', approverIds: [secondApprover, approver], waitFor: 'all' }),
        rule({ name: 'Boss', approverIds: [approver] }),
      ],
    })
    const one = run(state, { kind: 'approve', ...by(approver), approvalIds })
    expect(one.types).toEqual(['change.approval_recorded', 'change.approval_recorded'])
    expect(statuses(one.state)).toEqual(['pending', 'approved'])
    expect(one.state.status).toBe('assess')
    given(one.state)
      .when({ kind: 'approve', ...by(approver), approvalIds })
      .fails('forbidden')
    const two = run(one.state, { kind: 'approve', ...by(secondApprover), approvalIds: ['apr_next'] })
    expect(two.state.status).toBe('authorize')
  })

  it('decides only on the approval that is named', () => {
    const state = submitted({ technical: [rule({ name: 'One' }), rule({ name: 'Two' })] })
    const [first, second] = state.approvals.map(({ id }) => id)
    const one = run(state, { kind: 'approve', ...by(approver), approvalId: second, approvalIds })
    expect(statuses(one.state)).toEqual(['pending', 'approved'])
    given(one.state)
      .when({ kind: 'approve', ...by(approver), approvalId: second, approvalIds })
      .fails('forbidden')
    given(one.state)
      .when({ kind: 'approve', ...by(approver), approvalId: 'apr_none', approvalIds })
      .fails('validation_failed')
    const two = run(one.state, { kind: 'approve', ...by(approver), approvalId: first, approvalIds })
    expect(two.state.status).toBe('authorize')
  })

  it('records the content hash in the decision', () => {
    const { state } = run(changeIn('normal', 'assess'), {
      kind: 'approve',
      ...by(approver),
      comment: 'Fine.',
      approvalIds,
    })
    const [approval] = state.approvals
    expect(approval?.decisions).toEqual([
      {
        by: person(approver),
        userId: approver,
        decision: 'approved',
        comment: 'Fine.',
        contentHash: approval?.contentHash,
        at: now,
      },
    ])
  })
})

it('rejects comments beyond the capacity of an event, and accepts decisions without a comment', () => {
  let state = submitted({ technical: [rule({ waitFor: { count: 100 } })] })
  const refused: string[] = []
  for (let index = 0; index < 100; index += 1) {
    const decision = { kind: 'approve', ...by(`usr_${index}`), approvalIds } as const
    try {
      state = run(state, { ...decision, comment: 'x'.repeat(2_000) }).state
    } catch (error) {
      expect(error).toMatchObject({ code: 'validation_failed', details: [{ path: '/comment' }] })
      refused.push(decision.userId)
      state = run(state, decision).state
    }
  }
  expect(state.status).toBe('authorize')
  expect(refused).toHaveLength(100 - Math.floor(maxCommentBytes / 2_000))
})

describe('rejecting a change', () => {
  it('returns it to draft, and voids pending and given approvals', () => {
    const { types, state } = run(changeIn('normal', 'authorize'), {
      kind: 'reject',
      ...by(approver),
      reason: 'No.',
    })
    expect(types).toEqual(['change.approval_recorded', 'change.rejected'])
    expect(state).toMatchObject({ status: 'draft', rejectionReason: 'No.', approvalPolicy: null })
    expect(statuses(state)).toEqual(['void', 'rejected'])
  })

  it('keeps the earlier approval rounds when the change is submitted again', () => {
    const draft = run(changeIn('normal', 'assess'), { kind: 'reject', ...by(approver), reason: 'No.' }).state
    const again = run(draft, { ...steps.submit, approvalIds: ['apr_again'], now }).state
    expect(statuses(again)).toEqual(['rejected', 'pending'])
    expect(again.rejectionReason).toBeNull()
    expect(again.approvals[0]).toEqual(draft.approvals[0])
  })

  it('drops the oldest approval rounds if they exceed the size limit', () => {
    const long = { ...by(approver), reason: 'x'.repeat(2_000) }
    let state = changeIn('normal', 'draft')
    const seen: Approval[] = []
    for (let round = 0; round < 100; round += 1) {
      state = run(state, { ...steps.submit, approvalIds: [`apr_${round}`], now }).state
      state = run(state, { kind: 'reject', ...long }).state
      seen.push(...state.approvals.slice(-1))
      expect(JSON.stringify(state.approvals).length).toBeLessThanOrEqual(maxApprovalBytes + 1_000)
    }
    expect(state.approvals.length).toBeGreaterThan(40)
    expect(state.approvals.length).toBeLessThan(100)
    expect(state.approvals).toEqual(seen.slice(-state.approvals.length))
  })
})

describe('canceling a change', () => {
  it('voids its pending approvals', () => {
    const { state } = run(changeIn('normal', 'authorize'), { kind: 'cancel', reason: 'No need.', now })
    expect(statuses(state)).toEqual(['approved', 'void'])
    expect(state.cancelReason).toBe('No need.')
  })
})
