import { Bootstrapped, type InternalParty, Session, VerifiedToken } from '@opsplane/contracts'
import { generateServiceKeys } from '@opsplane/http'
import { type ApiClient, type ApiReply, startTestService, type TestService } from '@opsplane/testing'
import { type SettingsOverrides, settings } from './service.js'

/** A workspace with its logged-in owner. */
export interface Owner {
  workspaceId: string
  slug: string
  userId: string
  email: string
  password: string
  session: string
}

interface Place {
  workspace?: string
  environment?: string
}

export interface Settings {
  service: TestService<SettingsOverrides>
  /** A clock that only `advance` moves. */
  clock: { now(): string; advance(ms: number): void }
  /** Calls internal routes as a service, and other routes as the gateway does for a client that is not logged in. */
  internal: Pick<ApiClient, 'get' | 'post'>
  owner(slug: string): Promise<Owner>
  login(email: string, password: string, address?: string): Promise<ApiReply>
  verify(token: string, place?: Place): Promise<ApiReply>
  /** Calls as the gateway does for a client with this token. */
  as(token: string, place?: Place): Promise<ApiClient>
  stop(): Promise<void>
}

export const password = 'correct horse battery'
/** The minimum cost of Argon2id, because a flood of logins needs hundreds of hashes. */
const passwordCost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
const masterKey = Buffer.alloc(32, 7).toString('base64')

const callers = new Map<string, InternalParty>([
  ['/internal/bootstrap', 'operator'],
  ['/internal/secrets/resolve', 'dispatcher'],
  ['/internal/rights', 'dispatcher'],
  ['/internal/members', 'itsm'],
  ['/internal/retention', 'workflows'],
])

/** Starts the real service, and verifies tokens as the gateway does. */
export async function startSettings(
  env: Record<string, string> = {},
  overrides: SettingsOverrides = {},
): Promise<Settings> {
  let nowMs = Date.parse('2026-03-01T10:00:00.000Z')
  const clock = {
    now: () => new Date(nowMs).toISOString(),
    advance: (ms: number) => {
      nowMs += ms
    },
  }
  const service = await startTestService(settings, {
    overrides: { clock, passwordCost, ...overrides },
    env: { OPSPLANE_MASTER_KEY: masterKey, AUDIT_SIGNING_KEY: generateServiceKeys().privateKey, ...env },
  })
  const clientFor = (path: string) => {
    if (!path.startsWith('/internal/')) return service.as()
    return service.asService(callers.get(path) ?? 'gateway')
  }
  const internal: Settings['internal'] = {
    get: (path, request) => clientFor(path).get(path, request),
    post: (path, body, headers) => clientFor(path).post(path, body, headers),
  }

  const login: Settings['login'] = (email, word, address = '203.0.113.7') =>
    internal.post('/auth/token', { email, password: word }, { 'x-forwarded-for': address })

  const verify: Settings['verify'] = (token, { workspace, environment = 'production' } = {}) =>
    internal.post('/internal/tokens/verify', { token, environment, ...(workspace && { workspace }) })

  return {
    ...{ service, clock, internal, login, verify },
    async owner(slug) {
      const email = `${slug}@example.com`
      const naming = { workspaceName: slug, workspaceSlug: slug, userName: `Owner of ${slug}` }
      const created = await internal.post('/internal/bootstrap', { ...naming, email, password })
      const session = (await login(email, password)).data(Session).accessToken
      return { ...created.data(Bootstrapped), slug, email, password, session }
    },
    async as(token, place) {
      const { principal } = (await verify(token, place)).data(VerifiedToken)
      return service.as(principal)
    },
    stop: () => service.stop(),
  }
}
