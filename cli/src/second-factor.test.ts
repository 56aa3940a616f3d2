import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { ApiError, type FactorChallenge, type Me, type Session } from '@opsplane/contracts'
import { type CliFixture, json, refusal, startCliFixture } from './fixture/program-fixture.js'

let fixture: CliFixture
beforeEach(async () => {
  fixture = await startCliFixture()
})
afterEach(() => fixture?.stop())

const at = '2026-01-31T12:00:00.000Z'
const user = {
  ...{ id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', email: 'ada@example.com', name: 'Ada' },
  ...{ addressProvenAt: null, createdAt: at, updatedAt: at },
}
const workspace = {
  ...{ id: 'ws_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', slug: 'acme', name: 'Acme', version: 1, role: 'owner' },
  settings: { timezone: 'UTC', executionRetentionDays: 90 },
  signIn: { factorRequired: false, factorRoles: [] },
  ...{ createdAt: at, updatedAt: at },
}
const session: Session = {
  ...{ accessToken: 'ops_ses_1', tokenType: 'Bearer', expiresAt: at },
  ...{ user, workspaces: [workspace] },
}
const me: Me = {
  ...{ user, workspace, environment: 'production', permissions: [], operator: false },
  credential: { id: 'ses_1', kind: 'session', name: null, expiresAt: at },
}
const answered = (data: unknown) => json(200, { data, meta: { requestId: 'req_1' } })
const asked = (methods: FactorChallenge['methods']) => {
  const params = { challenge: 'ops_sic_1', expiresAt: at, methods, passkey: null }
  const detail = { in: 'body' as const, path: '', code: 'factor_required', message: 'Asked.', params }
  return refusal(new ApiError('factor_required', 'The login has a second factor.', { details: [detail] }))
}
const logIn = (...args: string[]) => {
  const { run, server } = fixture
  const to = ['login', '--url', server.url, '--workspace', 'acme', '--email', user.email, '--password-stdin']
  return run([...to, ...args], { input: 'a password\n' })
}
const sent = () =>
  fixture.server
    .received()
    .filter(({ path }) => path === '/api/v1/auth/token')
    .map(({ rawBody }) => JSON.parse(String(rawBody)) as unknown)

test('login answers the challenge of a second factor with the code of --code', async () => {
  fixture.answers.push(asked(['totp']), answered(session), answered(me))
  expect(await logIn('--code', '123456')).toMatchObject({
    code: 0,
    err: expect.not.stringContaining('ops_sic'),
  })
  const password = { email: user.email, password: 'a password' }
  expect(sent()).toEqual([password, { challenge: 'ops_sic_1', code: '123456' }])
})

test('login without a terminal suggests --code', async () => {
  fixture.answers.push(asked(['totp', 'recovery_code']))
  expect(await logIn()).toMatchObject({ code: 2, err: expect.stringContaining('--code') })
})

test('login suggests an API key when the only second factor is a passkey', async () => {
  fixture.answers.push(asked(['passkey']))
  expect(await logIn('--code', '123456')).toMatchObject({ code: 1, err: expect.stringContaining('API key') })
})
