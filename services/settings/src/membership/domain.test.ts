import { describe, expect, it } from '@jest/globals'
import { type UserPatch, UserState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { type MembershipState, membership } from './domain.js'
import {
  activeMember,
  createdAt,
  deactivatedMember,
  invitation,
  invite,
  invitedMember,
  now,
  ownerMember,
  suspendedMember,
} from './sample-members.fixture.js'

const { given } = specify(membership)
const patch = (fields: UserPatch, otherOwners = 1) => ({
  ...{ kind: 'patch' as const, patch: fields, otherOwners, now },
})
const remove = (otherOwners = 1) => ({ kind: 'remove' as const, otherOwners, now })
const accept = {
  kind: 'accept' as const,
  tokenHash: invitation.tokenHash,
  name: 'Ada Lovelace',
  addressProven: false,
  now,
}

/** The whole state, because `emits` cannot express that a field is absent. */
const after = (state: MembershipState, command: Parameters<typeof membership.decide>[0]) =>
  membership.decide(command, state).at(-1)?.after

describe('a membership', () => {
  it('is created active, once', () => {
    const { status: _, createdAt: __, updatedAt: ___, ...fields } = ownerMember
    const activate = { kind: 'activate' as const, ...fields, now: createdAt }
    given(null).when(activate).emits({ type: 'user.activated', changes: ownerMember })
    given(ownerMember).when(activate).fails('conflict')
  })

  it('is exposed as a user, without the invitation', () => {
    expect(UserState.strict().parse(membership.expose(invitedMember))).toMatchObject({
      id: invitedMember.userId,
    })
    expect(membership.describe(activeMember)).toEqual({ id: activeMember.userId, displayName: 'Ada' })
  })
})

describe('inviting a user', () => {
  const extras = { expiresAt: invitation.expiresAt }

  it('creates a membership without access', () => {
    const changes = { ...invitedMember, createdAt: now, updatedAt: now }
    given(null).when(invite).emits({ type: 'user.invited', changes, extras })
  })

  it('replaces the previous invitation', () => {
    const other = { ...invitation, id: 'inv_01JZ8Q4D3N5W7X9Y2B4C6D8E0G', tokenHash: 'b'.repeat(64) }
    given(invitedMember)
      .when({ ...invite, role: 'viewer', invitation: other })
      .emits({ type: 'user.invited', changes: { role: 'viewer', invitation: other, updatedAt: now }, extras })
  })

  it('invites a removed user again under the original id', () => {
    given(deactivatedMember)
      .when({ ...invite, id: 'mbr_01JZ8Q4D3N5W7X9Y2B4C6D8E0G' })
      .emits({ type: 'user.invited', changes: { status: 'invited', invitation, updatedAt: now }, extras })
  })

  it('is refused for members and for suspended users', () => {
    given(activeMember).when(invite).fails('conflict')
    given(suspendedMember).when(invite).fails('invalid_state_transition')
  })
})

describe('accepting an invitation', () => {
  it('activates the membership under the name of the login, and consumes the invitation', () => {
    const { invitation: _, ...member } = invitedMember
    expect(after(invitedMember, accept)).toEqual({
      ...{ ...member, status: 'active', name: 'Ada Lovelace', updatedAt: now },
    })
  })

  it.each([
    ['of another token', invitedMember, { tokenHash: 'b'.repeat(64) }],
    ['at its end', invitedMember, { now: invitation.expiresAt }],
    ['that was used', activeMember, {}],
    ['that ended with the membership', deactivatedMember, {}],
  ])('refuses an invitation %s', (_, state, fields) => {
    given(state)
      .when({ ...accept, ...fields })
      .fails('invalid_token')
  })
})

describe('changing a membership', () => {
  it('assigns another role', () => {
    const emitted = { type: 'user.role_changed', changes: { role: 'agent', updatedAt: now } }
    for (const state of [invitedMember, activeMember, suspendedMember])
      given(state)
        .when(patch({ role: 'agent' }))
        .emits(emitted)
    given(deactivatedMember)
      .when(patch({ role: 'agent' }))
      .fails('invalid_state_transition')
  })

  it('suspends and reactivates a member', () => {
    given(activeMember)
      .when(patch({ status: 'suspended' }))
      .emits({ type: 'user.suspended', changes: { status: 'suspended', updatedAt: now } })
    given(suspendedMember)
      .when(patch({ status: 'active', role: 'viewer' }))
      .emits(
        { type: 'user.role_changed', changes: { role: 'viewer', updatedAt: now } },
        { type: 'user.reactivated', changes: { status: 'active' } },
      )
  })

  it('emits nothing when nothing changes', () => {
    given(activeMember)
      .when(patch({ role: 'developer', status: 'active' }))
      .emits()
    given(deactivatedMember).when(patch({})).emits()
  })

  it('grants no access before the invitation is accepted', () => {
    given(invitedMember)
      .when(patch({ status: 'active' }))
      .fails('invalid_state_transition', {
        ...{ from: 'invited', action: 'reactivate', allowed: ['invite', 'accept', 'change_role', 'remove'] },
      })
  })
})

describe('removing a user', () => {
  it('ends the membership and its open invitation', () => {
    for (const state of [invitedMember, activeMember, suspendedMember]) {
      expect(after(state, remove())).toEqual({ ...deactivatedMember, updatedAt: now })
    }
    given(deactivatedMember).when(remove()).fails('invalid_state_transition')
  })
})

describe('the last active owner', () => {
  it.each([patch({ role: 'admin' }, 0), patch({ status: 'suspended' }, 0), remove(0)])(
    'cannot be demoted, suspended or removed: %j',
    (command) => {
      given(ownerMember).when(command).fails('conflict')
      expect(membership.decide({ ...command, otherOwners: 1 }, ownerMember)).toHaveLength(1)
    },
  )

  it('does not include an owner who is already suspended', () => {
    given({ ...suspendedMember, role: 'owner' })
      .when(patch({ role: 'admin' }, 0))
      .emits({ type: 'user.role_changed', changes: { role: 'admin', updatedAt: now } })
  })
})
