import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isLongTier, waitFor } from '@opsplane/testing'
import { type Api, type ApiAnswer, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api

beforeAll(async () => {
  // So that the flood comes from many addresses, and reaches settings.
  const extra = { TRUST_PROXY_CIDRS: '127.0.0.0/8', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0' }
  cluster = await startTestCluster({ services: ['itsm'], extra })
  api = apiClient(cluster.info)
})
afterAll(() => cluster?.stop())

const guessers = 48
/** Many at once are the flood; that it goes on is for the long tier. */
const guessesEach = isLongTier() ? 30 : 8

/** Codes a guess may be answered with, and nothing else. */
const allowed: Record<number, string> = {
  401: 'invalid_credentials',
  429: 'rate_limited',
  503: 'service_unavailable',
}

test('a flood of guesses is answered by contract, and whoever is logged in notices nothing', async () => {
  const { email, password } = cluster.secrets.owner
  const logIn = (word: string, address: string, login = email) =>
    api('POST', '/auth/token', {
      body: { email: login, password: word },
      headers: { authorization: undefined, 'x-forwarded-for': address },
    })
  // The owner has logged in from here before.
  expect((await logIn(password, '203.0.113.7')).status).toBe(201)

  const guesses: ApiAnswer[] = []
  const guess = async (guesser: number) => {
    for (let n = 0; n < guessesEach; n++) {
      const login = n % 2 === 0 ? email : `nobody${n}@example.com`
      guesses.push(await logIn('wrong horse battery', `198.51.${guesser}.${n % 8}`, login))
    }
  }
  let flooding = true
  const flood = Promise.all(Array.from({ length: guessers }, (_, n) => guess(n))).finally(() => {
    flooding = false
  })

  let meanwhile = 0
  for (let n = 0; flooding; n++) {
    const [me, created] = await Promise.all([
      api('GET', '/auth/me'),
      api('POST', '/itsm/incidents', { body: { title: `flood ${n}` } }),
    ])
    expect([me.status, created.status]).toEqual([200, 201])
    meanwhile++
  }
  await flood
  expect(meanwhile).toBeGreaterThan(0)

  expect(guesses).toHaveLength(guessers * guessesEach)
  for (const { status, headers, body } of guesses) {
    expect([status, body]).toEqual([
      status,
      expect.objectContaining({ error: expect.objectContaining({ code: allowed[status] }) }),
    ])
    if (status !== 401) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
  expect(guesses.some(({ status }) => status === 429)).toBe(true)

  // Strangers have used up the account's attempts; its owner is let in.
  await waitFor(async () => (await logIn('wrong horse battery', '198.51.200.1')).status === 429)
  expect((await logIn(password, '203.0.113.7')).status).toBe(201)
})
