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

const password = 'a password of a person'
const stepMs = 30_000
const open = { authorization: undefined, 'x-workspace': undefined }

let platform: SharedPlatform
let api: Api
const emailOf = (role: string) => `${role}@${platform.info.workspace}.example.com`

const as = (apiKey: string) => apiClient({ ...platform.info, apiKey })
const logIn = <T>(body: object) => api<T>('POST', '/auth/token', { body, headers: open })
async function challenge(): Promise<FactorChallenge> {
  const { status, body } = await logIn<Refusal>({ email: emailOf('developer'), password })
  expect([status, body.error.code]).toEqual([401, 'factor_required'])
  return FactorChallenge.parse(body.error.details[0]?.params)
}

/** A user who has just joined and has no factor yet. */
async function joined(role: string): Promise<Api> {
  const body = { email: emailOf(role), role }
  const invited = await api<Data<Invited>>('POST', '/settings/users/invite', { body })
  const { token } = invited.body.data.invitation
  const acceptance = { token, name: role, password }
  const accepted = await api<Data<LoggedIn>>('POST', '/auth/invitations/accept', {
    ...{ body: acceptance, headers: open },
  })
  return as(accepted.body.data.accessToken)
}

/**
 * Adds an authenticator app, which consumes its present code. Sent without a workspace, because a workspace may
 * require a factor first.
 */
async function enrol(person: Api) {
  const headers = { 'x-workspace': undefined }
  const begun = await person('POST', '/auth/factors/totp', { body: { name: 'Phone' }, headers })
  const { id, secret } = TotpEnrolment.parse(begun.body.data)
  const now = Date.now()
  const used = totpCode(secret, now)
  const confirmation = { body: { id, code: used }, headers }
  const confirmed = await person('POST', '/auth/factors/totp/confirm', confirmation)
  expect(confirmed.status).toBe(200)
  return { id, used, next: totpCode(secret, now + stepMs) }
}

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
})

test('a person adds an authenticator app, and signs in with its code or with a recovery code', async () => {
  const session = await joined('developer')
  const { id, used, next: code } = await enrol(session)
  const made = await session('POST', '/auth/recovery-codes')
  const [first = '', second = ''] = RecoveryCodes.parse(made.body.data).codes

  // The code that confirmed the app is used up; the next one is valid already.
  const asked = await challenge()
  expect(asked.methods).toEqual(['totp', 'recovery_code'])
  const again = await logIn<Refusal>({ challenge: asked.challenge, code: used })
  expect(again.body.error.code).toBe('invalid_credentials')
  const answer = { challenge: asked.challenge, code }
  const signedIn = await logIn<Data<LoggedIn>>(answer)
  expect(signedIn.status).toBe(201)
  const replayed = await logIn<Refusal>(answer)
  expect(replayed.body.error.code).toBe('invalid_token')
  const fresh = await challenge()
  const repeated = await logIn<Refusal>({ ...answer, challenge: fresh.challenge })
  expect(repeated.body.error.code).toBe('invalid_credentials')

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

test('an owner requires a factor for a role, and members without one regain access by adding one', async () => {
  const credentials = { email: platform.info.email, password: platform.info.password }
  const owner = as((await logIn<Data<LoggedIn>>(credentials)).body.data.accessToken)
  const policy = { factorRequired: false, factorRoles: ['viewer'] }
  const early = await owner<Refusal>('PUT', '/settings/sign-in-policy', { body: policy })
  expect([early.status, early.body.error.code]).toEqual([403, 'factor_enrolment_required'])
  await enrol(owner)
  expect((await owner('PUT', '/settings/sign-in-policy', { body: policy })).status).toBe(200)

  const viewer = await joined('viewer')
  const enters = async () => (await viewer<Refusal>('GET', '/itsm/incidents')).body.error?.code
  await waitFor(async () => (await enters()) === 'factor_enrolment_required')
  expect((await viewer('GET', '/auth/factors', { headers: { 'x-workspace': undefined } })).status).toBe(200)
  await enrol(viewer)
  await waitFor(async () => (await enters()) === undefined)
})

test('the audit log contains actions on factors, with actor and address', async () => {
  const types = ['factor.added', 'recovery_codes.created', 'recovery_codes.used', 'session.started']
  for (const type of types) {
    const [event] = await waitFor(async () => {
      const { body } = await api<Data<{ source: { address: string } | null; actor: { name: string } }[]>>(
        'GET',
        `/audit?type=${type}&limit=1`,
      )
      return body.data.length > 0 && body.data
    })
    expect([type, event?.actor.name, event?.source?.address]).toEqual([
      type,
      expect.any(String),
      expect.any(String),
    ])
  }
})

test('passkeys are refused on an IP address, with the reason', async () => {
  const refused = await api<Refusal>('POST', '/auth/passkey/options', { headers: open })
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('127.0.0.1')])
})
