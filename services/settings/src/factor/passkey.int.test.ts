import { afterAll, beforeAll, expect, it, test } from '@jest/globals'
import { Factors, PasskeyChallenge, PasskeyEnrolment, Session, SessionDetail } from '@opsplane/contracts'
import { createAuthenticator, type Deviations, waitFor } from '@opsplane/testing'
import { password, type Settings, startSettings } from '../settings.fixture.js'
import { createFactorClient } from './factors.fixture.js'

const origin = 'http://localhost:8080'
let settings: Settings
let factors: ReturnType<typeof createFactorClient>
beforeAll(async () => {
  settings = await startSettings({ PUBLIC_ORIGIN: origin })
  factors = createFactorClient(settings)
})
afterAll(() => settings?.stop())

/** A person with a passkey, and the session in which it was added. */
async function enrolled(slug: string, { counts = false } = {}) {
  const person = await settings.owner(slug)
  const api = await settings.as(person.session)
  const key = createAuthenticator({ origin, counts })
  return { ...person, api, key, id: (await factors.passkey(api, key)).id }
}
const begin = async () => (await settings.internal.post('/auth/passkey/options')).data(PasskeyChallenge)
const methodsOf = async (session: string) => {
  const { items } = (await (await settings.as(session)).get('/auth/sessions')).page(SessionDetail)
  return items.find(({ current }) => current)?.methods
}

test('a passkey with user verification signs in alone, once for each challenge', async () => {
  const { key, userId } = await enrolled('alone')
  const { challenge, publicKey } = await begin()
  expect(publicKey).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] })
  const assertion = key.get(publicKey)
  const replies = await Promise.all([1, 2, 3].map(() => factors.answer({ challenge, assertion })))
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 401, 401])
  const session = replies.find(({ status }) => status === 201)?.data(Session)
  expect(session?.user.id).toBe(userId)
  expect(await methodsOf(session?.accessToken ?? '')).toEqual(['passkey'])
  expect((await factors.answer({ challenge, assertion })).error().code).toBe('invalid_token')
  const late = await begin()
  settings.clock.advance(5 * 60_000)
  const reply = await factors.answer({ challenge: late.challenge, assertion: key.get(late.publicKey) })
  expect(reply.error().code).toBe('invalid_token')
  const fresh = await begin()
  const browser = { challenge: fresh.challenge, assertion: key.get(fresh.publicKey) }
  expect((await factors.answer(browser, '/auth/session')).status).toBe(201)
})

test('a passkey without user verification is only a second factor after the password', async () => {
  const { key, email } = await enrolled('second')
  const { challenge, publicKey } = await begin()
  const assertion = key.get(publicKey, { userVerified: false })
  expect((await factors.answer({ challenge, assertion })).error().code).toBe('invalid_credentials')
  const asked = factors.challengeIn(await factors.login(email))
  expect(asked).toMatchObject({ methods: ['passkey'], passkey: { allowCredentials: [{ id: key.id }] } })
  if (!asked.passkey) throw new Error('no passkey is asked for')
  const second = { challenge: asked.challenge, assertion: key.get(asked.passkey, { userVerified: false }) }
  const { accessToken } = (await factors.answer(second)).data(Session)
  expect(await methodsOf(accessToken)).toEqual(['password', 'passkey'])
  expect((await factors.answer(second)).error().code).toBe('invalid_token')
})

const wrong: [string, Deviations][] = [
  ['signed by another key', { forged: true }],
  ['made at another origin', { origin: 'http://evil.example' }],
  ['made at another port', { origin: 'http://localhost:9999' }],
  ['made for another party', { rpId: 'evil.example' }],
]

test.each(wrong)('an assertion %s proves nothing, alone or as a second factor', async (_, deviations) => {
  const slug = `wrong-${wrong.findIndex(([name]) => name === _)}`
  const { key, email } = await enrolled(slug)
  const { challenge, publicKey } = await begin()
  const alone = await factors.answer({ challenge, assertion: key.get(publicKey, deviations) })
  expect(alone.error().code).toBe('invalid_credentials')
  const asked = factors.challengeIn(await factors.login(email))
  if (!asked.passkey) throw new Error('no passkey is asked for')
  const second = { challenge: asked.challenge, assertion: key.get(asked.passkey, deviations) }
  expect((await factors.answer(second)).error().code).toBe('invalid_credentials')
})

test.each(wrong.slice(1))('a credential %s is not added', async (_, deviations) => {
  const slug = `credential-${wrong.findIndex(([name]) => name === _)}`
  const api = await settings.as((await settings.owner(slug)).session)
  const begun = (await api.post('/auth/factors/passkeys/options')).data(PasskeyEnrolment)
  const credential = createAuthenticator({ origin }).create(begun.publicKey, deviations)
  const reply = await api.post('/auth/factors/passkeys', {
    challenge: begun.challenge,
    name: 'Key',
    credential,
  })
  expect([reply.status, reply.error().details[0]?.path]).toEqual([422, '/credential'])
  expect((await api.get('/auth/factors')).data(Factors).factors).toEqual([])
})

test('an assertion is valid only for its own challenge and its own login', async () => {
  const [ida, jo] = [await enrolled('ida'), await enrolled('jo')]
  const [one, other] = [await begin(), await begin()]
  const mixed = { challenge: other.challenge, assertion: ida.key.get(one.publicKey) }
  expect((await factors.answer(mixed)).error().code).toBe('invalid_credentials')
  const asked = factors.challengeIn(await factors.login(ida.email))
  if (!asked.passkey) throw new Error('no passkey is asked for')
  const foreign = { challenge: asked.challenge, assertion: jo.key.get(asked.passkey) }
  expect((await factors.answer(foreign)).error().code).toBe('invalid_credentials')
  const begun = (await ida.api.post('/auth/factors/passkeys/options')).data(PasskeyEnrolment)
  const stolen = {
    ...{ challenge: begun.challenge, name: 'Stolen' },
    credential: createAuthenticator({ origin }).create(begun.publicKey),
  }
  expect((await jo.api.post('/auth/factors/passkeys', stolen)).error().code).toBe('invalid_token')
  expect((await ida.api.post('/auth/factors/passkeys', stolen)).status).toBe(201)
  expect((await ida.api.post('/auth/factors/passkeys', stolen)).error().code).toBe('invalid_token')
  const again = (await ida.api.post('/auth/factors/passkeys/options')).data(PasskeyEnrolment)
  expect(again.publicKey.excludeCredentials.map(({ id }) => id)).toContain(ida.key.id)
})

it('a passkey whose counter does not increase is refused and reported as a copy', async () => {
  const { key, userId, id } = await enrolled('copied', { counts: true })
  const attempt = async (deviations: Deviations) => {
    const { challenge, publicKey } = await begin()
    return factors.answer({ challenge, assertion: key.get(publicKey, deviations) })
  }
  expect((await attempt({ counter: 7 })).status).toBe(201)
  const reports = () => settings.service.sql<{ data: { after: { id: string } } }[]>`
    select data from events where stream_id like ${`login/${userId}/%`} and type = 'factor.clone_suspected'`
  // An attempt without the private key must not report a cloned passkey.
  expect((await attempt({ counter: 3, forged: true })).error().code).toBe('invalid_credentials')
  expect(await reports()).toHaveLength(0)
  await waitFor(async () => {
    const [failed] = await settings.service.sql`
      select id from events where stream_id like ${`login/${userId}/%`} and type = 'login.failed'`
    return failed !== undefined
  })
  for (const counter of [7, 3, 0])
    expect((await attempt({ counter })).error().code).toBe('invalid_credentials')
  expect((await reports()).map(({ data }) => data.after.id)).toEqual([id, id, id])
  expect((await attempt({ counter: 8 })).status).toBe(201)
})

it('a passkey steps up the session of a browser', async () => {
  const { key, email } = await enrolled('stepping')
  const asked = factors.challengeIn(await factors.answer({ email, password }, '/auth/session'))
  if (!asked.passkey) throw new Error('no passkey is asked for')
  const answer = { challenge: asked.challenge, assertion: key.get(asked.passkey) }
  const api = await settings.as(factors.tokenIn(await factors.answer(answer, '/auth/session')))
  settings.clock.advance(10 * 60_000)
  const { challenge, passkey } = factors.challengeIn(await api.post('/auth/step-up', { password }))
  if (!passkey) throw new Error('no passkey is asked for')
  const steppedUp = await api.post('/auth/step-up', { challenge, assertion: key.get(passkey) })
  expect(steppedUp.status).toBe(200)
  const renewed = await settings.as(factors.tokenIn(steppedUp))
  expect((await renewed.post('/auth/recovery-codes')).status).toBe(201)
})
