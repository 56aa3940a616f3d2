import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Me, Session, Token, TokenCreated, User } from '@opsplane/contracts'
import {
  type ApiClient,
  type ApiReply,
  type SmtpReceiver,
  startSmtpReceiver,
  waitFor,
} from '@opsplane/testing'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

const next = 'another good password'
const hourMs = 3_600_000

let receiver: SmtpReceiver
let settings: Settings
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>
beforeAll(async () => {
  receiver = await startSmtpReceiver()
  settings = await startSettings({ SMTP_URL: receiver.url, SMTP_FROM: 'Opsplane <ops@opsplane.example>' })
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
  users = createUserClient(settings, ada, api)
})
afterAll(async () => {
  await settings?.stop()
  await receiver?.stop()
})
afterEach(() => {
  receiver.mails.splice(0)
})

let addresses = 0
/** Each request comes from a different network, so that no test is throttled for the failures of another. */
const from = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })
const mailTo = (email: string) =>
  waitFor(() => receiver.mails.find(({ recipients }) => recipients.includes(email)))
const tokenFor = async (email: string) => {
  const token = /ops_\w{3}_\w+/.exec((await mailTo(email)).text)?.[0] ?? ''
  receiver.mails.splice(0)
  return token
}
const requestReset = (email: string, headers = from()) =>
  settings.internal.post('/auth/password/reset', { email }, headers)
const reset = (token: string, newPassword = next, headers = from()) =>
  settings.internal.post('/auth/password/reset/confirm', { token, newPassword }, headers)
const sessionOf = async (owner: Owner, word = password) =>
  (await settings.login(owner.email, word, `203.0.113.${++addresses}`)).data(Session).accessToken
const change = async (session: string, body: object) =>
  (await settings.as(session)).post('/auth/password/change', body, from())
const works = async (token: string) => (await settings.verify(token)).status === 200

describe('changing the password', () => {
  it('requires the current password, keeps this session and ends all others', async () => {
    const bea = await settings.owner('bea')
    const other = await sessionOf(bea)
    const wrong = await change(bea.session, { currentPassword: 'wrong horse', newPassword: next })
    expect(wrong.error().code).toBe('invalid_credentials')
    expect((await change(bea.session, { currentPassword: password, newPassword: 'short' })).status).toBe(422)
    expect(await works(other)).toBe(true)
    expect((await change(bea.session, { currentPassword: password, newPassword: next })).status).toBe(204)
    expect([await works(bea.session), await works(other)]).toEqual([true, false])
    expect((await settings.login(bea.email, password)).status).toBe(401)
    await sessionOf(bea, next)
  })

  it('is refused to API keys, which remain valid after the change', async () => {
    const cy = await settings.owner('cy')
    const own = await settings.as(cy.session, { workspace: 'cy' })
    const key = (await own.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
    const refused = await change(String(key.token), { currentPassword: password, newPassword: next })
    expect(refused.error().code).toBe('forbidden')
    await change(cy.session, { currentPassword: password, newPassword: next })
    expect(await works(String(key.token))).toBe(true)
  })

  it('is throttled like a login', async () => {
    const dan = await settings.owner('dan')
    const address = from()
    const client = await settings.as(dan.session)
    const guess = () =>
      client.post('/auth/password/change', { currentPassword: 'wrong horse', newPassword: next }, address)
    const codes = []
    for (let n = 0; n < 7; n++) codes.push((await guess()).error().code)
    expect(codes.filter((code) => code === 'rate_limited').length).toBeGreaterThan(0)
  })
})

describe('resetting the password', () => {
  const said = ({ status, text }: ApiReply) => [status, text]

  it('answers the same for known and unknown addresses, and mails only to known ones', async () => {
    expect(said(await requestReset('unknown@example.com'))).toEqual(said(await requestReset(ada.email)))
    const mail = await mailTo(ada.email)
    expect(mail.recipients).toEqual([ada.email])
    await waitFor(async () => (await settings.service.sql`select 1 from mails`).length === 0)
    expect(receiver.mails).toHaveLength(1)
  })

  it('sets a new password once with the token, ends all sessions and proves the address', async () => {
    const eva = await settings.owner('eva')
    await requestReset(eva.email)
    const token = await tokenFor(eva.email)
    expect((await reset('ops_act_wrong')).error().code).toBe('invalid_token')
    expect((await reset(token)).status).toBe(204)
    expect((await reset(token)).error().code).toBe('invalid_token')
    expect(await works(eva.session)).toBe(false)
    expect((await settings.login(eva.email, password)).status).toBe(401)
    const own = await settings.as(await sessionOf(eva, next), { workspace: 'eva' })
    expect((await own.get('/auth/me')).data(Me).user.addressProvenAt).toBe(settings.clock.now())
    expect((await own.get(`/settings/users/${eva.userId}`)).data(User)).toMatchObject({ addressProven: true })
  })

  it('ends the sessions and keys of another person who claimed the login first', async () => {
    // Invited while no mail server was configured, so that the inviter received the token.
    const fay = await settings.owner('fay')
    const own = await settings.as(fay.session, { workspace: 'fay' })
    const made = (await own.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
    await requestReset(fay.email)
    await reset(await tokenFor(fay.email))
    expect([await works(fay.session), await works(String(made.token))]).toEqual([false, false])
    const again = await settings.as(await sessionOf(fay, next), { workspace: 'fay' })
    const [key] = (await again.get('/auth/tokens')).page(Token).items
    expect(key).toMatchObject({ status: 'revoked', revocationReason: 'login_reclaimed' })
    const second = (await again.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
    await requestReset(fay.email)
    await reset(await tokenFor(fay.email), password)
    expect(await works(String(second.token))).toBe(true)
  })

  it('accepts only the latest token, for an hour, and stores no token in plain text', async () => {
    const gus = await settings.owner('gus')
    await requestReset(gus.email)
    const first = await tokenFor(gus.email)
    await requestReset(gus.email)
    const second = await tokenFor(gus.email)
    expect((await reset(first)).error().code).toBe('invalid_token')
    const [row] = await settings.service
      .sql`select t::text as row from account_tokens t where account_id = ${gus.userId}`
    expect(row?.row).not.toContain(second.slice(-38))
    settings.clock.advance(hourMs)
    expect((await reset(second)).error().code).toBe('invalid_token')
  })

  it('is rate limited', async () => {
    const address = from()
    const codes = []
    for (let n = 0; n < 7; n++) codes.push((await requestReset('flooded@example.com', address)).status)
    expect(codes).toContain(429)
  })
})

describe('proving the address', () => {
  it('requires the mailed token and a session of the same login', async () => {
    const hal = await settings.owner('hal')
    const session = await settings.as(hal.session, { workspace: 'hal' })
    expect((await session.post('/auth/address/prove', undefined, from())).status).toBe(204)
    const token = await tokenFor(hal.email)
    const stranger = await settings.as(await sessionOf(ada))
    const confirm = (client: ApiClient) => client.post('/auth/address/prove/confirm', { token }, from())
    expect((await confirm(stranger)).error().code).toBe('invalid_token')
    expect((await reset(token)).error().code).toBe('invalid_token')
    expect((await confirm(session)).status).toBe(204)
    expect((await session.get(`/settings/users/${hal.userId}`)).data(User)).toMatchObject({
      addressProven: true,
    })
  })

  it('is done by accepting a mailed invitation', async () => {
    const invited = (await users.invite('ida@example.com')).data(User.loose())
    expect(invited.addressProven).toBe(false)
    await users.accept({ token: await tokenFor('ida@example.com'), name: 'Ida', password })
    expect((await api.get(`/settings/users/${invited.id}`)).data(User)).toMatchObject({
      status: 'active',
      addressProven: true,
    })
  })
})

it('a login in progress during a password change does not outlive the change', async () => {
  const jo = await settings.owner('jo')
  const logins = Promise.all(
    Array.from({ length: 4 }, (_, n) => settings.login(jo.email, password, `192.0.2.${n}`)),
  )
  await change(jo.session, { currentPassword: password, newPassword: next })
  for (const reply of await logins)
    if (reply.status === 201) expect(await works(reply.data(Session).accessToken)).toBe(false)
})
