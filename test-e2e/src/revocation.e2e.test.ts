import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { startEvenLoad } from './even-load.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
/** Both gateways. */
let doors: string[]

beforeAll(async () => {
  // What is measured is who gets in, not how many.
  const extra = { RATE_LIMIT_PER_MINUTE: '0', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0' }
  cluster = await startTestCluster({ extra })
  api = apiClient(cluster.info)
  const second = await cluster.replica('gateway')
  doors = [cluster.info.baseUrl, `${second.url}/api/v1`]
})
afterAll(() => cluster?.stop())

const perSecond = 200
/** The platform's own promise: revoked everywhere within this time. */
const boundMs = 1_000

interface Credential {
  token: string
  revoke(): Promise<{ status: number }>
}

async function apiKey(): Promise<Credential> {
  const made = await api<{ data: { id: string; token: string } }>('POST', '/auth/tokens', {
    body: { name: 'soon revoked', scopes: ['itsm:read'] },
  })
  const { id, token } = made.body.data
  return { token, revoke: () => api('DELETE', `/auth/tokens/${id}`) }
}

async function session(): Promise<Credential> {
  const { email, password } = cluster.secrets.owner
  const signedIn = await api<{ data: { accessToken: string } }>('POST', '/auth/token', {
    body: { email, password },
    headers: { authorization: undefined },
  })
  const token = signedIn.body.data.accessToken
  const headers = { authorization: `Bearer ${token}` }
  return { token, revoke: () => api('POST', '/auth/logout', { headers }) }
}

/** Uses the credential at both gateways, ends it, and returns how requests of before and after were answered. */
async function useAndRevoke({ token, revoke }: Credential) {
  const load = startEvenLoad({
    urls: doors.map((door) => `${door}/itsm/incidents?limit=1`),
    headers: { authorization: `Bearer ${token}`, 'x-workspace': cluster.info.workspace },
    perSecond,
  })
  let boundAt = Number.POSITIVE_INFINITY
  try {
    await waitFor(() => load.sent.length > perSecond)
    const revoked = await revoke()
    boundAt = performance.now() + boundMs
    expect(revoked.status).toBeLessThan(300)
    await waitFor(() => load.sent.filter(({ startedAt }) => startedAt > boundAt).length >= perSecond)
  } finally {
    await load.stop()
  }
  const startedBetween = (from: number, to: number) =>
    load.sent.filter(({ startedAt }) => startedAt > from && startedAt <= to)
  return {
    before: startedBetween(0, boundAt - boundMs),
    between: startedBetween(boundAt - boundMs, boundAt),
    after: startedBetween(boundAt, Number.POSITIVE_INFINITY),
  }
}

const statuses = (sent: readonly { status: number }[]) =>
  [...new Set(sent.map(({ status }) => status))].sort()

const kinds: [string, () => Promise<Credential>][] = [
  ['an API key that is revoked', apiKey],
  ['a session that is logged out', session],
]

async function expectRevoked(credential: Credential) {
  const { before, between, after } = await useAndRevoke(credential)
  expect(statuses(before)).toContain(200)
  expect(statuses(between).filter((status) => status !== 200 && status !== 401)).toEqual([])
  expect(statuses(after)).toEqual([401])
}

test.each(kinds)(
  '%s while 200 requests a second use it: none succeeds one second later',
  async (_kind, make) => {
    await expectRevoked(await make())
  },
)

test.each(kinds)('%s while NATS is away: none succeeds one second later either', async (_kind, make) => {
  await cluster.nats.stop()
  try {
    await expectRevoked(await make())
  } finally {
    await cluster.nats.start()
  }
})
