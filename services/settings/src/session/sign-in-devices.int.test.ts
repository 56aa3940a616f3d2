import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type SmtpReceiver, startSmtpReceiver, waitFor } from '@opsplane/testing'
import { createFactorClient } from '../factor/factors.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

const dayMs = 24 * 3_600_000
const firefox = (version: number) =>
  `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`
const curl = 'curl/8.5.0'

let receiver: SmtpReceiver
let settings: Settings
let ada: Owner
beforeAll(async () => {
  receiver = await startSmtpReceiver()
  settings = await startSettings({
    ...{ SMTP_URL: receiver.url, SMTP_FROM: 'Opsplane <ops@opsplane.example>' },
    PUBLIC_ORIGIN: 'https://ops.example',
    OPERATORS: 'op@example.com',
  })
})
afterAll(async () => {
  await settings?.stop()
  await receiver?.stop()
})

let made = 0
const proven = (proven: boolean) => settings.service.sql`
  update accounts set state = jsonb_set(state::jsonb, '{addressProvenAt}',
    ${proven ? '"2026-01-01T00:00:00.000Z"' : 'null'}::text::jsonb) where id = ${ada.userId}`
beforeEach(async () => {
  ada = await settings.owner(`ada${++made}`)
  // The first sign-in uses a client without a user agent.
  await proven(true)
  receiver.mails.splice(0)
})

const signIn = async (userAgent: string, address: string) => {
  const headers = { 'user-agent': userAgent, 'x-forwarded-for': address }
  expect((await settings.internal.post('/auth/token', { email: ada.email, password }, headers)).status).toBe(
    201,
  )
}
const noticed = (count: number) =>
  waitFor(() => receiver.mails.filter(({ recipients }) => recipients.includes(ada.email)).length === count)
/** Number of queued sign-in mails. 0 after a sign-in means that none was queued with the session. */
const queued = async () =>
  (await settings.service.sql`select 1 from mails where email = ${ada.email} and sign_in is not null`).length

test('a sign-in from an unknown device is mailed with time, address, program and how to end it', async () => {
  await signIn(firefox(140), '198.51.100.1')
  await noticed(1)
  const text = receiver.mails[0]?.text ?? ''
  expect(text).toContain(settings.clock.now())
  expect(text).toContain('198.51.100.1')
  expect(text).toContain('Firefox on Linux')
  expect(text).toContain('https://ops.example/account')
  // Sent mails are deleted completely.
  await waitFor(async () => (await queued()) === 0)
})

test('a known device is mailed once, whatever its version, and again after 90 days without use', async () => {
  await signIn(firefox(140), '198.51.100.1')
  await signIn(firefox(141), '198.51.100.1')
  await noticed(1)
  await signIn(firefox(141), '198.51.100.2')
  await noticed(2)
  await signIn(curl, '198.51.100.2')
  await noticed(3)
  settings.clock.advance(89 * dayMs)
  await signIn(curl, '198.51.100.2')
  settings.clock.advance(89 * dayMs)
  await signIn(curl, '198.51.100.2')
  await signIn(firefox(150), '198.51.100.1')
  await noticed(4)
})

test('the removal of all factors by an operator is mailed', async () => {
  const operator = await settings.as((await settings.owner('op')).session)
  await createFactorClient(settings).totp(await settings.as(ada.session))
  const removed = await operator.post('/platform/accounts/remove-factors', { email: ada.email })
  expect(removed.status).toBe(204)
  await noticed(1)
  expect(receiver.mails[0]?.text).toContain('has removed all second factors')
  expect(receiver.mails[0]?.text).toContain('https://ops.example/account')
})

test.each<[string, () => Promise<unknown>]>([
  [
    'the first sign-in of a login',
    () => settings.service.sql`delete from sign_in_devices where account_id = ${ada.userId}`,
  ],
  ['a login whose address is unproven', () => proven(false)],
])('no mail is sent for %s', async (_what, before) => {
  await before()
  // Makes the mail server reject mails, so that a queued mail would stay in the queue.
  receiver.refuseNext(100)
  await signIn(firefox(140), '203.0.113.50')
  expect(await queued()).toBe(0)
  receiver.refuseNext(0)
})
