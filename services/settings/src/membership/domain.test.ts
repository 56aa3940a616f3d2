import { describe, expect, it } from '@jest/globals'
import { UserState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { type MembershipState, membership } from './domain.js'

const now = '2026-03-01T10:00:00.000Z'
const fields = {
  id: 'mbr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  userId: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'owner',
}
const ada: MembershipState = { ...fields, status: 'active', createdAt: now, updatedAt: now }
const activate = { kind: 'activate' as const, ...fields, now }
const { given } = specify(membership)

describe('a membership', () => {
  it('begins active, once', () => {
    given(null).when(activate).emits({ type: 'user.activated', changes: ada })
    given(ada).when(activate).fails('conflict')
  })

  it('is shown as the user it lets in', () => {
    expect(UserState.strict().parse(membership.expose(ada))).toMatchObject({
      id: fields.userId,
      role: 'owner',
    })
    expect(membership.describe(ada)).toEqual({ id: fields.userId, displayName: 'Ada' })
  })
})
