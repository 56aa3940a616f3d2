import { beforeAll, expect, test } from '@jest/globals'
import { FactorChallenge, Factors, RecoveryCodes, TotpEnrolment } from '@opsplane/contracts'
import { totpCode, waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

interface Data<T = Record<string, unknown>> {
  data: T
}
interface LoggedIn {
  accessToken: string
}
interface Refusal {
  error: { code: string; message: string; details: { params?: unknown }[] }
}
interface Invited {
  invitation: { token: string }
}

const password = 'a password of linus'
const stepMs = 30_000
const open = { authorization: undefined, 'x-workspace': undefined }

let platform: SharedPlatform
let api: Api
let email: string
/** Of somebody who has just joined, and has no factor yet. */
let session: Api

const as = (apiKey: string) => apiClient({ ...platform.info, apiKey })
const logIn = <T>(body: object) => api<T>('POST', '/auth/token', { body, headers: open })
async function challenge(): Promise<FactorChallenge> {
  const { status, body } = await logIn<Refusal>({ email, password })
  expect([status, body.error.code]).toEqual([401, 'factor_required'])
  return FactorChallenge.parse(body.error.details[0]?.params)
}

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  email = `linus@${platform.info.workspace}.example.com`
  const invited = await api<Data<Invited>>('POST', '/settings/users/invite', {
    body: { email, role: 'developer' },
  })
  const { token } = invited.body.data.invitation
  const body = { token, name: 'Linus', password }
  const joined = await api<Data<LoggedIn>>('POST', '/auth/invitations/accept', { body, headers: open })
  session = as(joined.body.data.accessToken)
})

test('a person adds an authenticator app, signs in with it, and by a recovery code without it', async () => {
  const begun = await session('POST', '/auth/factors/totp', { body: { name: 'Phone' } })
  const { id, secret } = TotpEnrolment.parse(begun.body.data)
  const now = Date.now()
  const confirmation = { id, code: totpCode(secret, now) }
  const confirmed = await session('POST', '/auth/factors/totp/confirm', { body: confirmation })
  expect(confirmed.status).toBe(200)
  const made = await session('POST', '/auth/recovery-codes')
  const [first = '', second = ''] = RecoveryCodes.parse(made.body.data).codes

  // The code that confirmed it is used; the next one counts already.
  const asked = await challenge()
  expect(asked.methods).toEqual(['totp', 'recovery_code'])
  const used = await logIn<Refusal>({ challenge: asked.challenge, code: confirmation.code })
  expect(used.body.error.code).toBe('invalid_credentials')
  const answer = { challenge: asked.challenge, code: totpCode(secret, now + stepMs) }
  const signedIn = await logIn<Data<LoggedIn>>(answer)
  expect(signedIn.status).toBe(201)
  const replayed = await logIn<Refusal>(answer)
  expect(replayed.body.error.code).toBe('invalid_token')
  const fresh = await challenge()
  const again = await logIn<Refusal>({ ...answer, challenge: fresh.challenge })
  expect(again.body.error.code).toBe('invalid_credentials')

  expect((await logIn({ challenge: fresh.challenge, code: first })).status).toBe(201)
  const next = await challenge()
  const twice = await logIn<Refusal>({ challenge: next.challenge, code: first })
  expect(twice.body.error.code).toBe('invalid_credentials')
  for (let guess = 0; guess < 4; guess++) await logIn({ challenge: next.challenge, code: '000000' })
  const over = await logIn<Refusal>({ challenge: next.challenge, code: second })
  expect(['invalid_token', 'rate_limited']).toContain(over.body.error.code)

  const { body } = await as(signedIn.body.data.accessToken)('GET', '/auth/factors')
  expect(Factors.parse(body.data)).toMatchObject({ factors: [{ id, name: 'Phone' }], recoveryCodesLeft: 9 })
})

test('what is done with factors is in the audit log, with where it was done', async () => {
  const types = ['factor.added', 'recovery_codes.created', 'recovery_codes.used', 'session.started']
  for (const type of types) {
    const [event] = await waitFor(async () => {
      const { body } = await api<Data<{ source: { address: string } | null; actor: { name: string } }[]>>(
        'GET',
        `/audit?type=${type}&limit=1`,
      )
      return body.data.length > 0 && body.data
    })
    expect([type, event?.actor.name, event?.source?.address]).toEqual([type, 'Linus', expect.any(String)])
  }
})

test('where people use an IP address there are no passkeys, and the refusal says why', async () => {
  const refused = await api<Refusal>('POST', '/auth/passkey/options', { headers: open })
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('127.0.0.1')])
})
