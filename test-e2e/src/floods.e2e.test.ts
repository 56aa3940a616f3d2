import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { bootstrapOwner } from '@opsplane/local'
import { isLongTier, pace, waitFor } from '@opsplane/testing'
import { Agent, request } from 'undici'
import { startTestCluster } from './platform.js'

type Headers = Record<string, string>

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let base: string
let first: Headers
/** Of another workspace, with a key of its own, behind the same address as every flood. */
let second: Headers
let sockets: Socket[] = []
const agent = new Agent({ connections: 64 })

beforeAll(async () => {
  // Low enough for a short flood to reach them; the second tenant's few requests do not.
  const extra = {
    RATE_LIMIT_PER_MINUTE: '3000',
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

/** How often a flood is refused before it is over; in the long tier all of it is sent. */
const refusalsEach = isLongTier() ? Number.POSITIVE_INFINITY : 200

/** So many requests, 48 of them at a time, or fewer once enough are refused. Gives the statuses they were answered with. */
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

/** What the second tenant does meanwhile, and how it is answered. */
async function secondTenantDuring<T>(flooding: Promise<T>): Promise<{ outcome: T; statuses: Set<number> }> {
  const statuses = new Set<number>()
  let over = false
  const outcome = flooding.finally(() => {
    over = true
  })
  for (let turn = 0; turn < 3 || (!over && turn < 40); turn++) {
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

/** A well-formed key that nobody was given. */
const wrongKey = (n: number) => `ops_key_${String(n).padStart(26, '0')}_${'x'.repeat(38)}`

/** A login whose body does not come. */
async function hangingLogin(): Promise<void> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write('POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
  socket.write('Content-Length: 60\r\n\r\n{"email":')
}

test('logins whose bodies do not come keep nobody from logging in', async () => {
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

test('a workspace that has all the polls it may have takes none from another', async () => {
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
  // By then the others wait.
  await waitFor(() => refused >= 39)
  const { outcome, statuses } = await secondTenantDuring(poll(second, 500))
  expect(outcome).toBe(200)
  expect(statuses).toEqual(fine)
  leaving.abort()
  await Promise.all(polls)
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
])('a flood of %s costs a second tenant nothing', async (_what, count, send, allowed) => {
  const { outcome, statuses } = await secondTenantDuring(flood(count, send))
  expect(statuses).toEqual(fine)
  for (const status of outcome) expect(allowed).toContain(status)
  expect(outcome).toContain(429)
})
