import { describe, expect, it } from '@jest/globals'
import { SecretState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { type StoredSecret, secret } from './domain.js'

const createdAt = '2026-03-01T10:00:00.000Z'
const now = '2026-03-02T10:00:00.000Z'
const fields = { id: 'sec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'stripe', hosts: ['api.example.com'] }
const stored: StoredSecret = {
  ...fields,
  sealedValue: { text: 'v1.first', version: 1 },
  createdAt,
  updatedAt: createdAt,
}
const create = { kind: 'create' as const, ...fields, sealedValue: stored.sealedValue, now: createdAt }
const { given } = specify(secret)

describe('a secret', () => {
  it('is created once', () => {
    given(null).when(create).emits({ type: 'secret.created', changes: stored })
    given(stored).when(create).fails('conflict')
  })

  it('is rotated to the next version only', () => {
    const sealedValue = { text: 'v1.second', version: 2 }
    given(stored)
      .when({ kind: 'rotate', sealedValue, now })
      .emits({ type: 'secret.rotated', changes: { sealedValue, updatedAt: now } })
    given({ ...stored, sealedValue })
      .when({ kind: 'rotate', sealedValue, now })
      .fails('version_conflict')
    given(null).when({ kind: 'rotate', sealedValue, now }).fails('not_found')
  })

  it('is deleted', () => {
    given(stored).when({ kind: 'delete' }).emits({ type: 'secret.deleted', changes: null })
    given(null).when({ kind: 'delete' }).fails('not_found')
  })

  it('never exposes its value, not even sealed', () => {
    expect(SecretState.strict().parse(secret.expose(stored))).toEqual({
      ...fields,
      createdAt,
      updatedAt: createdAt,
    })
  })
})
