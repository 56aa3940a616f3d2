import { describe, it } from '@jest/globals'
import type { RoleState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { type RoleCommand, role } from './domain.js'

const createdAt = '2026-03-01T10:00:00.000Z'
const now = '2026-03-02T10:00:00.000Z'
const id = 'rol_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const fields = {
  name: 'releaser',
  description: 'Releases.',
  permissions: ['itsm:read' as const],
}
const create: RoleCommand = { kind: 'create', id, fields, now: createdAt }
const releaser: RoleState = { id, ...fields, createdAt, updatedAt: createdAt }
const { given } = specify(role)

describe('a custom role', () => {
  it('is created once', () => {
    given(null).when(create).emits({ type: 'role.created', changes: releaser })
    given(releaser).when(create).fails('conflict')
  })

  it('changes only the given fields, and emits no event when nothing changes', () => {
    given(releaser)
      .when({ kind: 'update', patch: { permissions: [] }, now })
      .emits({ type: 'role.updated', changes: { permissions: [], updatedAt: now } })
    given(releaser)
      .when({ kind: 'update', patch: { description: 'Releases.' }, now })
      .emits()
    given(null).when({ kind: 'update', patch: {}, now }).fails('not_found')
  })

  it('is deleted only when no user has it', () => {
    given(releaser).when({ kind: 'delete', members: 2 }).fails('conflict', { members: 2 })
    given(releaser).when({ kind: 'delete', members: 0 }).emits({ type: 'role.deleted', changes: null })
  })
})
