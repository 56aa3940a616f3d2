import { describe, expect, it } from '@jest/globals'
import { Account, settingsEvents } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { type AccountState, account } from './domain.js'

const now = '2026-03-01T10:00:00.000Z'
const later = '2026-03-02T10:00:00.000Z'
const fields = { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', email: 'ada@example.com', name: 'Ada' }
const ada: AccountState = {
  ...fields,
  passwordHash: '$argon2id$…',
  addressProvenAt: null,
  createdAt: now,
  updatedAt: now,
}
const create = { kind: 'create' as const, ...fields, passwordHash: '$argon2id$…', now }
const { given } = specify(account)

describe('an account', () => {
  it('is created once', () => {
    given(null).when(create).emits({ type: 'account.created', changes: ada })
    given(ada).when(create).fails('conflict')
  })

  it('without a password is claimed once, by the invited person', () => {
    const unclaimed = { ...ada, name: ada.email, passwordHash: null }
    const password = { passwordHash: ada.passwordHash ?? '', addressProven: false }
    const claim = { kind: 'claim' as const, name: 'Ada', ...password, now: later }
    given(null)
      .when({ ...create, name: ada.email, passwordHash: null })
      .emits({ type: 'account.created', changes: unclaimed })
    given(unclaimed)
      .when(claim)
      .emits({
        type: 'account.claimed',
        changes: { name: 'Ada', passwordHash: ada.passwordHash, updatedAt: later },
      })
    given(unclaimed)
      .when({ ...claim, addressProven: true })
      .emits({
        type: 'account.claimed',
        changes: { name: 'Ada', passwordHash: ada.passwordHash, addressProvenAt: later, updatedAt: later },
      })
    given(ada).when(claim).fails('version_conflict')
    given(null).when(claim).fails('not_found')
  })

  it('has its address proven by a mailed token, not by a known password or a link', () => {
    const passwordHash = '$argon2id$other'
    given(ada)
      .when({ kind: 'change_password', passwordHash, now: later })
      .emits({ type: 'account.password_changed', changes: { passwordHash, updatedAt: later } })
    given(ada)
      .when({ kind: 'reset_password', by: 'mail', passwordHash, now: later })
      .emits({
        type: 'account.password_reset',
        changes: { passwordHash, addressProvenAt: later, updatedAt: later },
        extras: { by: 'mail' },
      })
    given(ada)
      .when({ kind: 'reset_password', by: 'link', passwordHash, now: later })
      .emits({
        ...{ type: 'account.password_reset', changes: { passwordHash, updatedAt: later } },
        extras: { by: 'link' },
      })
    const proven = { ...ada, addressProvenAt: later, updatedAt: later }
    given(ada)
      .when({ kind: 'prove_address', now: later })
      .emits({ type: 'account.address_proven', changes: { addressProvenAt: later, updatedAt: later } })
    given(proven).when({ kind: 'prove_address', now: later }).emits()
  })

  it('never exposes its password hash', () => {
    expect(account.expose(ada)).toEqual({
      ...{ ...fields, addressProvenAt: null, createdAt: now, updatedAt: now },
    })
    expect(() => Account.strict().parse(account.expose(ada))).not.toThrow()
    expect(Object.keys(settingsEvents)).toContain('account.created')
  })
})
