import { beforeAll, expect, test } from '@jest/globals'
import { type BackendName, backendNames, permissions } from '@opsplane/contracts'
import { everyNth, isLongTier, waitFor } from '@opsplane/testing'
import { type Sent, startEvenLoad } from './even-load.js'
import { type Api, apiClient, type startTestCluster, typedClient } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
/** Origins of both gateways. */
let origins: string[]
/** An app, and the path below the origin that a client with a key requests. */
let app: { id: string; path: string }

const perSecond = isLongTier() ? 200 : 30
/** The platform's documented bound: a revocation takes effect everywhere within this time. */
const boundMs = 1_000

interface Credential {
  token: string
  /** Paths the credential is valid for; defaults to one of every service. */
  paths?: string[]
  revoke(): Promise<{ status: number }>
}

/** Creates an app that is deployed and may be embedded. */
async function embeddableApp() {
  const owner = typedClient(cluster.info)
  const { data } = await owner.post('/apps', { body: { slug: 'shown', name: 'Shown' } })
  const params = { path: { id: data.id } }
  await owner.post('/apps/{id}/pages', { params, body: { slug: 'home', title: 'Home' } })
  await owner.post('/apps/{id}/deploy', { params, body: { embeddable: true } })
  return { id: data.id, path: `/apps/${cluster.info.workspace}/shown/-/definition` }
}

async function embedToken(): Promise<Credential> {
  const body = { origins: ['https://portal.example.com'] }
  const made = await api<{ data: { id: string; token: string } }>('POST', `/apps/${app.id}/embed-token`, {
    body,
  })
  const { id, token } = made.body.data
  return { token, paths: [app.path], revoke: () => api('DELETE', `/apps/${app.id}/embed-tokens/${id}`) }
}

async function apiKey(): Promise<Credential> {
  const made = await api<{ data: { id: string; token: string } }>('POST', '/auth/tokens', {
    body: { name: 'soon revoked', scopes: permissions },
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

/** Reads of every service, because none may accept a revoked credential longer than the others. */
const reads: Record<BackendName, readonly string[]> = {
  settings: ['/api/v1/auth/me', '/api/v1/secrets?limit=1'],
  itsm: ['/api/v1/itsm/incidents?limit=1'],
  dispatcher: ['/api/v1/webhooks?limit=1'],
  integrations: ['/api/v1/connectors?limit=1'],
  'database-studio': ['/api/v1/tables?limit=1'],
  workflows: ['/api/v1/workflows?limit=1'],
  sdk: ['/api/v1/sdk/packs?limit=1', '/api/service-sdk/executions?limit=1'],
  analytics: ['/api/v1/analytics/reports?limit=1'],
  apps: ['/api/v1/apps?limit=1'],
}
const everyService = () => [...backendNames.flatMap((name) => reads[name]), app.path]

/** Uses the credential at both gateways, revokes it, and returns the statuses of requests before and after. */
async function useAndRevoke({ token, paths = everyService(), revoke }: Credential) {
  const urls = paths.flatMap((path) => origins.map((origin) => `${origin}${path}`))
  const load = startEvenLoad({
    urls,
    headers: { authorization: `Bearer ${token}`, 'x-workspace': cluster.info.workspace },
    perSecond,
  })
  let boundAt = Number.POSITIVE_INFINITY
  try {
    // A service that starts slowly may not have answered yet when others have answered many requests.
    await waitFor(() => unused(urls, load.sent).length === 0)
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
    urls,
    before: startedBetween(0, boundAt - boundMs),
    between: startedBetween(boundAt - boundMs, boundAt),
    after: startedBetween(boundAt, Number.POSITIVE_INFINITY),
  }
}

/** URLs that have not been answered successfully yet. */
const unused = (urls: readonly string[], sent: readonly Sent[]) => {
  const used = new Set(sent.flatMap(({ url, status }) => (status === 200 ? [url] : [])))
  return urls.filter((url) => !used.has(url))
}

const statuses = (sent: readonly { status: number }[]) =>
  [...new Set(sent.map(({ status }) => status))].sort()

const kinds: [string, () => Promise<Credential>][] = [
  ['an API key that is revoked', apiKey],
  ['a session that is logged out', session],
  ['an embed token that is revoked', embedToken],
]

async function expectRevoked(credential: Credential) {
  const { urls, before, between, after } = await useAndRevoke(credential)
  expect(unused(urls, before)).toEqual([])
  expect(statuses(between).filter((status) => status !== 200 && status !== 401)).toEqual([])
  expect(statuses(after)).toEqual([401])
}

/** Tests of a cluster without rate limits, which stop and start NATS. */
export function revocationTests(setting: () => typeof cluster): void {
  beforeAll(async () => {
    cluster = setting()
    api = apiClient(cluster.info)
    const second = await cluster.replica('gateway')
    origins = [cluster.info.origin, second.url]
    app = await embeddableApp()
  })

  test.each(kinds)(
    `%s while ${perSecond} requests a second use it at every service: none succeeds one second later`,
    async (_kind, make) => {
      await expectRevoked(await make())
    },
  )

  test.each(everyNth(2, kinds))(
    '%s while NATS is unavailable is refused everywhere one second later',
    async (_kind, make) => {
      await cluster.nats.stop()
      try {
        await expectRevoked(await make())
      } finally {
        await cluster.nats.start()
      }
    },
  )
}
