import { describe, expect, test } from '@jest/globals'
import { invitationText } from '../membership/invitation-text.js'
import { accountMailText } from './mail-text.js'

const token = 'ops_act_01'
const words = { token, expiresAt: '2026-03-01T11:00:00.000Z' }
const names = { workspaceName: 'Acme', inviterName: 'Ada', role: 'agent' }

describe.each<[string, string, string, (publicOrigin: string | undefined) => { text: string }]>([
  [
    'an invitation',
    '/invitation',
    '/api/v1/auth/invitations/accept',
    (publicOrigin) => invitationText({ ...names, ...words, publicOrigin }),
  ],
  [
    'a new password',
    '/reset',
    '/api/v1/auth/password/reset/confirm',
    (publicOrigin) => accountMailText('password_reset', { ...words, publicOrigin }),
  ],
  [
    'the proof of an address',
    '/account/address',
    '/api/v1/auth/address/prove/confirm',
    (publicOrigin) => accountMailText('address_proof', { ...words, publicOrigin }),
  ],
])('the mail for %s', (_what, page, operation, mail) => {
  test('links to a page, with the token in the URL fragment', () => {
    const { text } = mail('https://ops.example')
    expect(text.split('\n')).toContain(`https://ops.example${page}#token=${token}`)
    expect(text).toContain(words.expiresAt)
    expect(text.split(token)).toHaveLength(2)
    expect(text).not.toContain('/api/')
  })

  test('shows the API request where no page is configured', () => {
    const { text } = mail(undefined)
    expect(text).toContain(`POST ${operation}`)
    expect(text).toContain(token)
    expect(text).not.toContain('http')
  })
})
