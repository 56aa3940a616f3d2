import { describe, expect, it } from '@jest/globals'
import { type UserPatch, UserState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { type MembershipState, membership } from './domain.js'
import {
  active,
  createdAt,
  deactivated,
  invitation,
  invite,
  invited,
  now,
  owner,
  suspended,
} from './sample-members.js'

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

/** All of the state, as `emits` cannot say that a field is gone. */
const after = (state: MembershipState, command: Parameters<typeof membership.decide>[0]) =>
  membership.decide(command, state).at(-1)?.after

describe('a membership', () => {
  it('begins active, once', () => {
    const { status: _, createdAt: __, updatedAt: ___, ...fields } = owner
    const activate = { kind: 'activate' as const, ...fields, now: createdAt }
    given(null).when(activate).emits({ type: 'user.activated', changes: owner })
    given(owner).when(activate).fails('conflict')
  })

  it('is shown as the user it lets in, without the invitation', () => {
    expect(UserState.strict().parse(membership.expose(invited))).toMatchObject({ id: invited.userId })
    expect(membership.describe(active)).toEqual({ id: active.userId, displayName: 'Ada' })
  })
})

describe('inviting', () => {
  const extras = { expiresAt: invitation.expiresAt }

  it('begins a membership that opens nothing yet', () => {
    const changes = { ...invited, createdAt: now, updatedAt: now }
    given(null).when(invite).emits({ type: 'user.invited', changes, extras })
  })

  it('replaces the former invitation', () => {
    const other = { ...invitation, id: 'inv_01JZ8Q4D3N5W7X9Y2B4C6D8E0G', tokenHash: 'b'.repeat(64) }
    given(invited)
      .when({ ...invite, role: 'viewer', invitation: other })
      .emits({ type: 'user.invited', changes: { role: 'viewer', invitation: other, updatedAt: now }, extras })
  })

  it('brings back who was removed, with the id of the first time', () => {
    given(deactivated)
      .when({ ...invite, id: 'mbr_01JZ8Q4D3N5W7X9Y2B4C6D8E0G' })
      .emits({ type: 'user.invited', changes: { status: 'invited', invitation, updatedAt: now }, extras })
  })

  it('is not for members, and does not lift a suspension', () => {
    given(active).when(invite).fails('conflict')
    given(suspended).when(invite).fails('invalid_state_transition')
  })
})

describe('accepting', () => {
  it('lets the person in under the name of their login, and uses the invitation up', () => {
    const { invitation: _, ...member } = invited
    expect(after(invited, accept)).toEqual({
      ...{ ...member, status: 'active', name: 'Ada Lovelace', updatedAt: now },
    })
  })

  it.each([
    ['of another token', invited, { tokenHash: 'b'.repeat(64) }],
    ['at its end', invited, { now: invitation.expiresAt }],
    ['that was used', active, {}],
    ['that ended with the membership', deactivated, {}],
  ])('an invitation %s is refused', (_, state, fields) => {
    given(state)
      .when({ ...accept, ...fields })
      .fails('invalid_token')
  })
})

describe('changing', () => {
  it('gives another role', () => {
    const emitted = { type: 'user.role_changed', changes: { role: 'agent', updatedAt: now } }
    for (const state of [invited, active, suspended])
      given(state)
        .when(patch({ role: 'agent' }))
        .emits(emitted)
    given(deactivated)
      .when(patch({ role: 'agent' }))
      .fails('invalid_state_transition')
  })

  it('keeps out, and lets in again', () => {
    given(active)
      .when(patch({ status: 'suspended' }))
      .emits({ type: 'user.suspended', changes: { status: 'suspended', updatedAt: now } })
    given(suspended)
      .when(patch({ status: 'active', role: 'viewer' }))
      .emits(
        { type: 'user.role_changed', changes: { role: 'viewer', updatedAt: now } },
        { type: 'user.reactivated', changes: { status: 'active' } },
      )
  })

  it('is nothing when all is so already', () => {
    given(active)
      .when(patch({ role: 'developer', status: 'active' }))
      .emits()
    given(deactivated).when(patch({})).emits()
  })

  it('lets nobody in who has not accepted', () => {
    given(invited)
      .when(patch({ status: 'active' }))
      .fails('invalid_state_transition', {
        ...{ from: 'invited', action: 'reactivate', allowed: ['invite', 'accept', 'change_role', 'remove'] },
      })
  })
})

describe('removing', () => {
  it('ends the membership, and an open invitation with it', () => {
    for (const state of [invited, active, suspended]) {
      expect(after(state, remove())).toEqual({ ...deactivated, updatedAt: now })
    }
    given(deactivated).when(remove()).fails('invalid_state_transition')
  })
})

describe('the last active owner', () => {
  it.each([patch({ role: 'admin' }, 0), patch({ status: 'suspended' }, 0), remove(0)])(
    'stays: %j',
    (command) => {
      given(owner).when(command).fails('conflict')
      expect(membership.decide({ ...command, otherOwners: 1 }, owner)).toHaveLength(1)
    },
  )

  it('is no matter where an owner is kept out already', () => {
    given({ ...suspended, role: 'owner' })
      .when(patch({ role: 'admin' }, 0))
      .emits({ type: 'user.role_changed', changes: { role: 'admin', updatedAt: now } })
  })
})
