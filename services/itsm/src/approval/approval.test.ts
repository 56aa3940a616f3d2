import { describe, expect, it } from '@jest/globals'
import { ApprovalRule } from '@opsplane/contracts'
import {
  checkApprovalRule,
  hashContent,
  reasonCannotDecide,
  recordDecision,
  requestApproval,
  voidApproval,
} from './approval.js'

const now = '2026-03-02T10:00:00.000Z'
const content = { title: 'Raise the pool limit' }
const contentHash = hashContent(content)
const rule = (given: object) => ApprovalRule.parse({ name: 'Advisory board', ...given })
const asked = (given: object, excludedIds: string[] = ['usr_asks']) =>
  requestApproval({ id: 'apr_1', rule: rule(given), excludedIds, contentHash, now })
const vote = (userId: string, decision: 'approved' | 'rejected' = 'approved') => ({
  by: { id: userId, name: userId, type: 'user' as const },
  userId,
  decision,
  comment: null,
  contentHash,
  now,
})
const approvers = ['usr_a', 'usr_b', 'usr_c', 'usr_asks']

describe('the quorum of an approval rule', () => {
  it.each([
    [{ waitFor: 'first' }, 1],
    [{ waitFor: { count: 3 } }, 3],
    [{ approverIds: approvers, waitFor: 'all' }, 3],
    [{ approverIds: approvers, waitFor: { percent: 50 } }, 2],
    [{ approverIds: approvers, waitFor: { percent: 1 } }, 1],
  ])('with %j requires %i approvals', (given, required) => {
    const approval = asked(given)
    expect(approval.required).toBe(required)
    const enough = ['usr_a', 'usr_b', 'usr_c'].slice(0, required)
    const states = enough.map((_, n) =>
      enough.slice(0, n + 1).reduce((before, id) => recordDecision(before, vote(id)), approval),
    )
    expect(states.map(({ status }) => status)).toEqual([
      ...Array.from({ length: required - 1 }, () => 'pending'),
      'approved',
    ])
  })

  it('is rejected if it can never be met', () => {
    expect(() => checkApprovalRule(rule({ waitFor: 'all' }), '/approvals/0')).toThrow(/requires approverIds/)
    expect(() => checkApprovalRule(rule({ waitFor: { percent: 50 } }), '/approvals/0')).toThrow(
      /requires approverIds/,
    )
    const few = rule({ approverIds: ['usr_a'], waitFor: { count: 2 } })
    expect(() => checkApprovalRule(few, '/approvals/0')).toThrow(/more approvals than it has approvers/)
    expect(() => asked({ approverIds: ['usr_asks'] })).toThrow(
      /needs an approval, and of its approvers none may/,
    )
  })
})

describe('a decision', () => {
  it('of rejection ends the approval immediately', () => {
    const rejected = recordDecision(asked({ waitFor: { count: 2 } }), vote('usr_a', 'rejected'))
    expect(rejected).toMatchObject({ status: 'rejected', endedAt: now })
    expect(() => recordDecision(rejected, vote('usr_b'))).toThrow(/already rejected/)
  })

  it.each([
    ['usr_asks', /cannot decide on this approval/],
    ['usr_x', /not one of the approvers/],
  ])('by %s is rejected', (userId, message) => {
    expect(() => recordDecision(asked({ approverIds: approvers }), vote(userId))).toThrow(message)
  })

  it('is accepted only once per person', () => {
    const approval = recordDecision(asked({ waitFor: { count: 2 } }), vote('usr_a'))
    expect(reasonCannotDecide(approval, 'usr_a')).toBe('You have already decided on this approval.')
    expect(reasonCannotDecide(approval, 'usr_b')).toBeUndefined()
  })

  it('is rejected if the content changed after approval was requested', () => {
    const other = { ...vote('usr_a'), contentHash: hashContent({ title: 'Another' }) }
    expect(() => recordDecision(asked({}), other)).toThrow(/changed since/)
  })

  it('stays on record when the approval is voided', () => {
    const approval = recordDecision(asked({ waitFor: { count: 2 } }), vote('usr_a'))
    expect(voidApproval(approval, now)).toEqual({ ...approval, status: 'void', endedAt: now })
    const approved = recordDecision(asked({}), vote('usr_a'))
    expect(voidApproval(approved, now)).toBe(approved)
  })
})
