import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { bootstrapOwner } from '@opsplane/local'
import { isLongTier, pace, waitFor } from '@opsplane/testing'
import { Agent, request } from 'undici'
import { type ApiAnswer, apiClient, startTestCluster } from './platform.js'

type Headers = Record<string, string>

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let base: string
let first: Headers
/** Headers of another workspace with its own key, at the same address as every flood. */
let second: Headers
let sockets: Socket[] = []
const agent = new Agent({ connections: 64 })

beforeAll(async () => {
  // Low enough for a short flood to reach, even on a slow machine, but too high for the second tenant's few requests.
  const extra = {
    RATE_LIMIT_PER_MINUTE: isLongTier() ? '1800' : '900',
    BODY_TIMEOUT_MS: '3000',
    LIMITS: JSON.stringify({ openPolls: 20 }),
  }
  cluster = await startTestCluster({ services: ['itsm', 'dispatcher'], extra })
  const { baseUrl, apiKey, workspace, origin } = cluster.info
  base = baseUrl
  const owner = { ...cluster.secrets.owner, workspace: 'second', email: 'second@example.com' }
  const { apiKey: _, ...unknown } = owner
  const other = await bootstrapOwner({
    secrets: { ...cluster.secrets, owner: unknown },
    settingsUrl: cluster.services.settings.url,
    tls: cluster.tls,
    origin,
  })
  first = { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace }
  second = {
    authorization: `Bearer ${other.apiKey}`,
    'x-workspace': 'second',
    'content-type': 'application/json',
  }
})
afterAll(async () => {
  await agent.close()
  await cluster?.stop()
})

interface Call {
  method?: 'GET' | 'POST'
  headers?: Headers
  body?: string
}

async function call(path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<number> {
  const options = { method, headers, dispatcher: agent, ...(body !== undefined && { body }) }
  const answer = await request(`${base}${path}`, options)
  await answer.body.dump()
  return answer.statusCode
}

const logIn = (password: string) => {
  const body = JSON.stringify({ email: cluster.secrets.owner.email, password })
  return call('/auth/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

/** Number of refusals after which a flood ends; in the long tier all requests are sent. */
const refusalsEach = isLongTier() ? Number.POSITIVE_INFINITY : 100

/** Sends `count` requests, 48 at a time, or fewer once enough are refused. Returns the statuses of the responses. */
async function flood(count: number, send: (n: number) => Promise<number>): Promise<Set<number>> {
  const statuses = new Set<number>()
  let next = 0
  let refused = 0
  const sender = async () => {
    while (next < count && refused < refusalsEach) {
      const status = await send(next++)
      statuses.add(status)
      if (status === 429) refused++
    }
  }
  await Promise.all(Array.from({ length: 48 }, sender))
  return statuses
}

/** Keeps the second tenant below its limit during all floods together. */
const maxTurns = isLongTier() ? 40 : 20

/** Sends requests of the second tenant meanwhile, and returns their statuses. */
async function secondTenantDuring<T>(flooding: Promise<T>): Promise<{ outcome: T; statuses: Set<number> }> {
  const statuses = new Set<number>()
  let over = false
  const outcome = flooding.finally(() => {
    over = true
  })
  for (let turn = 0; turn < 3 || (!over && turn < maxTurns); turn++) {
    const asked = [
      call('/auth/me', { headers: second }),
      call('/itsm/incidents?limit=1', { headers: second }),
      call('/itsm/incidents', { method: 'POST', headers: second, body: '{"title":"Meanwhile"}' }),
    ]
    for (const status of await Promise.all(asked)) statuses.add(status)
    await pace(20)
  }
  return { outcome: await outcome, statuses }
}

const fine = new Set([200, 201])

/** A well-formed key that was never issued. */
const wrongKey = (n: number) => `ops_key_${String(n).padStart(26, '0')}_${'x'.repeat(38)}`

/** Sends a login request whose body never arrives. */
async function hangingLogin(): Promise<void> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write('POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
  socket.write('Content-Length: 60\r\n\r\n{"email":')
}

test('100 logins with incomplete bodies do not block other logins', async () => {
  for (let n = 0; n < 100; n++) await hangingLogin()
  try {
    const { outcome, statuses } = await secondTenantDuring(logIn(cluster.secrets.owner.password))
    expect(outcome).toBe(201)
    expect(statuses).toEqual(fine)
  } finally {
    for (const socket of sockets) socket.destroy()
    sockets = []
  }
})

test('a workspace that exhausts its long-polls does not block those of another workspace', async () => {
  const leaving = new AbortController()
  const poll = async (headers: Headers, timeout: number) => {
    const url = `${base}/events/topics/builds/events?timeout=${timeout}`
    const answer = await request(url, { headers, signal: leaving.signal })
    await answer.body.dump()
    return answer.statusCode
  }
  let refused = 0
  const polls = Array.from({ length: 60 }, () =>
    poll(first, 20_000).then(
      (status) => void (status === 429 && refused++),
      () => undefined,
    ),
  )
  // By then the other polls are waiting.
  await waitFor(() => refused >= 39)
  const { outcome, statuses } = await secondTenantDuring(poll(second, 500))
  expect(outcome).toBe(200)
  expect(statuses).toEqual(fine)
  leaving.abort()
  await Promise.all(polls)
})

const guessers = 48
/** The flood consists of many concurrent guesses; a long duration is tested in the long tier. */
const guessesEach = isLongTier() ? 30 : 4

/** The only code allowed for each status of a guess. */
const allowedCodes: Record<number, string> = {
  401: 'invalid_credentials',
  429: 'rate_limited',
  503: 'service_unavailable',
}

test('password guesses from many addresses get documented errors, without affecting signed-in users', async () => {
  // Trusts the forwarded address, so that the flood comes from many addresses, and turns off the limits in front of
  // settings.
  const { url } = await cluster.replica('gateway', {
    ...{ TRUST_PROXY_CIDRS: '127.0.0.0/8', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE: '0' },
  })
  const api = apiClient({ ...cluster.info, baseUrl: `${url}/api/v1` })
  const { email, password } = cluster.secrets.owner
  const logInFrom = (word: string, address: string, login = email) =>
    api('POST', '/auth/token', {
      body: { email: login, password: word },
      headers: { authorization: undefined, 'x-forwarded-for': address },
    })
  // The owner has signed in from this address before.
  expect((await logInFrom(password, '203.0.113.7')).status).toBe(201)

  const guesses: ApiAnswer[] = []
  const guess = async (guesser: number) => {
    for (let n = 0; n < guessesEach; n++) {
      const login = n % 2 === 0 ? email : `unknown${n}@example.com`
      guesses.push(await logInFrom('wrong horse battery', `198.51.${guesser}.${n % 8}`, login))
    }
  }
  let flooding = true
  const guessing = Promise.all(Array.from({ length: guessers }, (_, n) => guess(n))).finally(() => {
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
  await guessing
  expect(meanwhile).toBeGreaterThan(0)

  expect(guesses).toHaveLength(guessers * guessesEach)
  for (const { status, headers, body } of guesses) {
    expect([status, body]).toEqual([
      status,
      expect.objectContaining({ error: expect.objectContaining({ code: allowedCodes[status] }) }),
    ])
    if (status !== 401) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
  expect(guesses.some(({ status }) => status === 429)).toBe(true)

  // Anonymous clients have used up the account's attempts; its owner can still sign in.
  await waitFor(async () => (await logInFrom('wrong horse battery', '198.51.200.1')).status === 429)
  expect((await logInFrom(password, '203.0.113.7')).status).toBe(201)
})

test.each<[string, number, (n: number) => Promise<number>, number[]]>([
  ['requests of one workspace', 1_500, () => call('/itsm/incidents?limit=1', { headers: first }), [200, 429]],
  ['requests without a key', 2_000, () => call('/itsm/incidents'), [401, 429]],
  [
    'requests with wrong keys',
    2_000,
    (n) => call('/itsm/incidents', { headers: { ...first, authorization: `Bearer ${wrongKey(n)}` } }),
    [401, 429, 503],
  ],
  ['guessed logins', 1_000, (n) => logIn(`guess ${n}`), [401, 429, 503]],
  [
    'queries of thousands of parameters',
    700,
    () => call(`/itsm/incidents?${'a&'.repeat(6_000)}`, { headers: first }),
    [422, 429],
  ],
])('a flood of %s does not affect a second tenant', async (_what, count, send, allowed) => {
  const { outcome, statuses } = await secondTenantDuring(flood(count, send))
  expect(statuses).toEqual(fine)
  for (const status of outcome) expect(allowed).toContain(status)
  expect(outcome).toContain(429)
})
