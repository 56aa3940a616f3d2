import { describe, expect, it } from '@jest/globals'
import { WorkspaceState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { workspace } from './domain.js'

const createdAt = '2026-03-01T10:00:00.000Z'
const now = '2026-03-02T10:00:00.000Z'
const acme: WorkspaceState = {
  id: 'ws_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  slug: 'acme',
  name: 'Acme',
  settings: { timezone: 'UTC', executionRetentionDays: 90 },
  signIn: { factorRequired: false, factorRoles: [] },
  createdAt,
  updatedAt: createdAt,
}
const create = { kind: 'create' as const, id: acme.id, slug: 'acme', name: 'Acme', now: createdAt }
const { given } = specify(workspace)

describe('a workspace', () => {
  it('sets a policy that requires factors, once, even when it had no policy before', () => {
    const policy = { factorRequired: true, factorRoles: [] }
    const { signIn: _, ...former } = acme
    const command = { kind: 'set_sign_in_policy' as const, policy, now }
    for (const state of [acme, former as WorkspaceState])
      given(state)
        .when(command)
        .emits({ type: 'workspace.updated', changes: { signIn: policy, updatedAt: now } })
    given({ ...acme, signIn: policy })
      .when(command)
      .emits()
    expect(workspace.expose(former as WorkspaceState).signIn).toEqual({
      factorRequired: false,
      factorRoles: [],
    })
  })

  it('is created with default settings, once', () => {
    given(null).when(create).emits({ type: 'workspace.created', changes: acme })
    given(acme).when(create).fails('conflict')
    expect(() => WorkspaceState.parse(acme)).not.toThrow()
  })

  it('changes only the given fields', () => {
    given(acme)
      .when({ kind: 'update', patch: { name: 'Acme Ltd', settings: { timezone: 'Asia/Tokyo' } }, now })
      .emits({
        type: 'workspace.updated',
        changes: {
          name: 'Acme Ltd',
          settings: { timezone: 'Asia/Tokyo', executionRetentionDays: 90 },
          updatedAt: now,
        },
      })
  })

  it('emits nothing for a patch that changes nothing', () => {
    given(acme)
      .when({ kind: 'update', patch: { name: 'Acme' }, now })
      .emits()
    given(acme).when({ kind: 'update', patch: {}, now }).emits()
  })

  it('cannot be updated before it exists', () => {
    given(null).when({ kind: 'update', patch: {}, now }).fails('not_found')
  })
})
