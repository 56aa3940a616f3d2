import { describe, expect, it } from '@jest/globals'
import { ApiError, ApprovalRule, type ChangePolicyState } from '@opsplane/contracts'
import { seededRandom, specify } from '@opsplane/testing'
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
} from '../sample-changes.fixture.js'
import type { ChangeRecord } from './separation-of-duties.js'

const { given } = specify(change)
const third = 'usr_third'
const nextIds = Array.from({ length: 5 }, (_, place) => `apr_next_${place}`)
const rule = (fields: object) => ApprovalRule.parse({ name: 'Board', ...fields })
const board = (waitFor: unknown, approverIds: string[] = [approver, secondApprover]) =>
  rule({ approverIds, waitFor })
const policy = (fields: Partial<ChangePolicyState>): ChangePolicyState => ({
  ...{ id: 'cpl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Payments', order: 1, conditions: {} },
  ...{ status: 'active', createdAt: now, updatedAt: now },
  technical: [rule({ name: 'Peers' })],
  authorization: [rule({})],
  distinctApprovers: true,
  ...fields,
})
const submit = (fields: Partial<ChangePolicyState>) => ({ ...steps.submit, policies: [policy(fields)], now })
const submitted = (fields: Partial<ChangePolicyState> = {}) =>
  then(changeIn('normal', 'draft'), submit(fields))
const by = (userId: string) => ({ by: person(userId), userId, now })
const approve = (userId: string, ids: readonly string[] = ['apr_next', 'apr_last']) =>
  ({ kind: 'approve', ...by(userId), approvalIds: ids }) as const

function then(state: ChangeRecord, ...commands: Parameters<typeof change.decide>[0][]): ChangeRecord {
  return commands.reduce<ChangeRecord>((current, command) => {
    const next = change.decide(command, current).at(-1)?.after
    if (!next) throw new Error('Nothing was decided.')
    return next
  }, state)
}

describe('with distinctApprovers, an approver of the technical stage', () => {
  const authorize = then(submitted(), approve(approver))

  it('can neither approve nor reject the authorization, even by naming it', () => {
    expect(authorize.approvals[1]?.excludedIds).toContain(approver)
    const approvalId = authorize.approvals[1]?.id
    for (const named of [{}, { approvalId }]) {
      expect(() => change.decide({ ...approve(approver), ...named }, authorize)).toThrow(
        expect.objectContaining({
          code: 'forbidden',
          message: 'An approver of the technical stage cannot decide on the authorization.',
        }),
      )
      given(authorize)
        .when({ kind: 'reject', ...by(approver), reason: 'No.', ...named })
        .fails('forbidden')
    }
    expect(then(authorize, approve(secondApprover)).status).toBe('scheduled')
  })

  it('can decide again after the change is submitted again', () => {
    const rejected = then(authorize, { kind: 'reject', ...by(secondApprover), reason: 'No.' })
    const again = then(
      rejected,
      { ...submit({}), approvalIds: ['apr_again'] },
      approve(secondApprover, ['apr_more']),
    )
    expect(again.status).toBe('authorize')
    expect(then(again, approve(approver)).status).toBe('scheduled')
  })

  it('can still authorize if the policy was altered after the change was submitted', () => {
    const loose = then(submitted({ distinctApprovers: false }), approve(approver))
    expect(loose.approvalPolicy?.distinctApprovers).toBe(false)
    expect(then(loose, { ...approve(approver), approvalId: 'apr_next' }).status).toBe('scheduled')
  })

  it('does not exist for an emergency change, which has no technical stage', () => {
    const emergency = then(changeIn('emergency', 'draft'), submit({ authorization: [board('all')] }))
    expect(then(emergency, approve(approver), approve(secondApprover)).status).toBe('scheduled')
  })
})

describe('an authorization that distinctApprovers leaves with too few approvers', () => {
  it.each([
    ['the same one person', [board('first', [approver])], [board('first', [approver])]],
    ['all of them before', [board('all')], [board('first')]],
    [
      'all of them, less who asked',
      [board('all', [requester, approver])],
      [board('first', [implementer, approver])],
    ],
    [
      'most of them before',
      [board({ count: 2 }, [approver, secondApprover, third])],
      [board({ count: 2 }, [approver, secondApprover, third])],
    ],
  ])('is rejected on submission: %s', (_, technical, authorization) => {
    const draft = changeIn('normal', 'draft')
    given(draft).when(submit({ technical, authorization })).fails('validation_failed')
    given(draft)
      .when(submit({ technical, authorization, distinctApprovers: false }))
      .decisions()
  })

  it('is prevented by rejecting the technical approval of a person needed for it', () => {
    const state = submitted({ authorization: [board({ count: 2 })] })
    for (const userId of [approver, secondApprover])
      expect(() => change.decide(approve(userId), state)).toThrow(
        expect.objectContaining({
          code: 'conflict',
          message: expect.stringContaining('only 1 would be left'),
        }),
      )
    const authorize = then(state, approve(third))
    expect(then(authorize, approve(approver), approve(secondApprover)).status).toBe('scheduled')
    expect(then(state, { kind: 'reject', ...by(approver), reason: 'No.' }).status).toBe('draft')
  })

  it('is detected before the last technical approval, based on the approvers still missing', () => {
    const people = [approver, secondApprover, third]
    const state = submitted({
      technical: [board({ count: 2 }, people)],
      authorization: [board({ count: 2 }, [secondApprover, third, 'usr_fourth'])],
    })
    const one = then(state, approve(secondApprover))
    given(one).when(approve(third)).fails('conflict')
    expect(then(one, approve(approver)).status).toBe('authorize')
  })

  it('is rejected with the names of both rules', () => {
    const technical = [
      board('all', [approver]),
      rule({ name: 'Net', approverIds: [approver, secondApprover], waitFor: 'all' }),
    ]
    const authorization = [board({ count: 2 }, [approver, secondApprover, third])]
    expect(() => change.decide(submit({ technical, authorization }), changeIn('normal', 'draft'))).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        details: [
          expect.objectContaining({
            code: 'too_few_approvers',
            message: expect.stringContaining('Net (technical) and Board (authorization)'),
          }),
        ],
      }),
    )
  })

  it('is detected on approval if only several rules together use up all approvers', () => {
    const state = submitted({
      technical: [board('first', [approver]), board('first', [secondApprover])],
      authorization: [board('all')],
    })
    for (const userId of [approver, secondApprover]) {
      expect(() => change.decide(approve(userId, approvalIds), state)).toThrow(
        expect.objectContaining({ code: 'conflict', message: expect.stringContaining('met together') }),
      )
      expect(then(state, { kind: 'reject', ...by(userId), reason: 'No.' }).status).toBe('draft')
    }
  })

  it('never results from accepted approvals, in any order', () => {
    const approvers = [approver, secondApprover, third, 'usr_fourth', 'usr_fifth', implementer]
    const reached: Record<string, number> = {}
    for (let seed = 1; seed <= 300; seed++) {
      const random = seededRandom(seed)
      const rules = () =>
        Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
          const named = approvers.filter(() => random() < 0.5)
          const count = 1 + Math.floor(random() * Math.min(2, named.length))
          return board({ count }, named.length === 0 ? [approver] : named)
        })
      let state = changeIn('normal', 'draft')
      try {
        state = then(state, submit({ technical: rules(), authorization: rules() }))
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'validation_failed')) throw error
        reached.refused = (reached.refused ?? 0) + 1
        continue
      }
      for (let tries = 0; tries < 200 && state.status !== 'scheduled'; tries++) {
        const pending = state.approvals.filter(({ status }) => status === 'pending')
        const userId = approvers[Math.floor(random() * approvers.length)] ?? approver
        const approvalId = pending[Math.floor(random() * pending.length)]?.id
        const named = approvalId !== undefined && random() < 0.5 ? { approvalId } : {}
        try {
          state = then(state, { ...approve(userId, nextIds), ...named })
        } catch (error) {
          if (!(error instanceof ApiError && ['conflict', 'forbidden'].includes(error.code))) throw error
        }
      }
      // At worst the change waits in its technical stage, where it can be rejected.
      expect({ seed, status: state.status }).not.toEqual({ seed, status: 'authorize' })
      reached[state.status] = (reached[state.status] ?? 0) + 1
    }
    expect(Math.min(reached.refused ?? 0, reached.scheduled ?? 0)).toBeGreaterThan(30)
  })

  it('is prevented by rejecting the new assignee', () => {
    const state = then(
      submitted({
        technical: [rule({ waitFor: { count: 2 } })],
        authorization: [board('all', [approver, secondApprover, third])],
      }),
      approve(approver),
    )
    const assign = (assigneeId: string) =>
      ({ kind: 'edit', userId: requester, patch: { assigneeId }, facts, now }) as const
    const handed = then(state, assign(secondApprover))
    given(handed).when(assign(third)).fails('validation_failed')
  })

  it('counts "all" and percentages based on the remaining approvers', () => {
    const authorize = then(
      submitted({ authorization: [board('all', [approver, secondApprover, third])] }),
      approve(approver, approvalIds),
    )
    expect(authorize.approvals[1]).toMatchObject({ required: 2 })
    expect(then(authorize, approve(secondApprover), approve(third)).status).toBe('scheduled')
  })
})
