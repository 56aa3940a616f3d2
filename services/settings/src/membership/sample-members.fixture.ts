import type { InviteMember, MembershipState } from './domain.js'

/** Examples for specs. */
export const createdAt = '2026-03-01T10:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'

const person = {
  id: 'mbr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  userId: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'developer',
  addressProven: false,
}

export const invitation = {
  id: 'inv_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  tokenHash: 'a'.repeat(64),
  expiresAt: '2026-03-08T10:00:00.000Z',
  mailed: false,
}

export const invite: InviteMember = { kind: 'invite', ...person, invitation, now }

const dates = { createdAt, updatedAt: createdAt }
export const activeMember: MembershipState = { ...person, status: 'active', ...dates }
export const invitedMember: MembershipState = { ...person, status: 'invited', invitation, ...dates }
export const suspendedMember: MembershipState = { ...person, status: 'suspended', ...dates }
export const deactivatedMember: MembershipState = { ...person, status: 'deactivated', ...dates }
export const ownerMember: MembershipState = { ...activeMember, role: 'owner' }
