import {
  IdentityProvider,
  type NewIdentityProvider,
  SsoLocation,
  sessionCookieHeader,
  ssoCookieHeader,
} from '@opsplane/contracts'
import { type ApiClient, type OidcIssuer, type OidcPerson, startOidcIssuer } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

export const publicOrigin = 'https://ops.example'

/** A sign-in between redirect and callback: the cookie set by the service, and the URL the provider redirects to. */
export interface PendingSignIn {
  cookie: string
  back: URL
}

/** The result of the callback. */
export interface CallbackResult {
  status: number
  location: URL | null
  /** The token in the cookie that was set. */
  session: string | null
  /** The error code passed to the page, or the code of the error envelope. */
  error: string | null
  message: string
  headers: Headers
}

export interface Sso {
  settings: Settings
  issuer: OidcIssuer
  /** An issuer of another party. */
  other: OidcIssuer
  /** A workspace with a provider and an owner in a browser session. */
  workspace(slug: string, fields?: Partial<NewIdentityProvider>): Promise<SsoWorkspace>
  connect(api: ApiClient, fields?: Partial<NewIdentityProvider>): Promise<IdentityProvider>
  /** Starts a sign-in, and authenticates at the issuer as this person. */
  begin(providerId: string, person: OidcPerson, options?: BeginOptions): Promise<PendingSignIn>
  finishSignIn(way: PendingSignIn, options?: CallbackOptions): Promise<CallbackResult>
  /** Performs `begin` and `finishSignIn`. */
  signIn(providerId: string, person: OidcPerson): Promise<CallbackResult>
  /** Opens a browser session of this login. */
  browser(email: string, password: string): Promise<string>
  stop(): Promise<void>
}

export interface BeginOptions {
  issuer?: OidcIssuer
  /** Client of the login that the identity is linked to. */
  link?: ApiClient
  returnTo?: string
  headers?: Record<string, string>
}

export interface CallbackOptions {
  cookie?: string | undefined
  providerId?: string
  address?: string
}

export interface SsoWorkspace {
  owner: Owner
  api: ApiClient
  provider: IdentityProvider
}

/** Starts settings with an issuer and an issuer of another party. */
export async function startSso(env: Record<string, string> = {}): Promise<Sso> {
  const [issuer, other] = [await startOidcIssuer(), await startOidcIssuer()]
  const settings = await startSettings({
    ...{ PUBLIC_ORIGIN: publicOrigin, SSO_DOMAINS: 'acme.example,other.example' },
    ...{ SSO_ALLOWED_CIDRS: '127.0.0.0/8', SSO_ALLOW_HTTP: 'loopback' },
    ...env,
  })
  const browser: Sso['browser'] = async (email, password) => {
    const signedIn = await settings.internal.post('/auth/session', { email, password })
    if (signedIn.status !== 201) throw new Error(signedIn.text)
    return tokenIn(signedIn.headers) ?? ''
  }
  const connect: Sso['connect'] = async (api, fields = {}) =>
    (
      await api.post('/settings/identity-providers', {
        ...{ name: 'Acme SSO', issuer: issuer.issuer, clientId: issuer.clientId },
        ...{ clientSecret: issuer.clientSecret, domains: ['acme.example'], defaultRole: 'viewer' },
        ...fields,
      })
    ).data(IdentityProvider)

  const begin: Sso['begin'] = async (providerId, person, options = {}) => {
    const { issuer: at = issuer, link, returnTo = '/incidents', headers = {} } = options
    const started = await (link
      ? link.post('/auth/identities', { providerId, returnTo }, headers)
      : settings.internal.post('/auth/sso/start', { providerId, returnTo }, headers))
    const { location } = started.data(SsoLocation)
    const [cookie = ''] = (started.headers.get(ssoCookieHeader) ?? '').split(' ')
    at.person = person
    return { cookie, back: await at.visit(location) }
  }

  const finishSignIn: Sso['finishSignIn'] = async (way, options = {}) => {
    const { address = '203.0.113.7', providerId } = options
    const cookie = 'cookie' in options ? options.cookie : way.cookie
    const path = way.back.pathname.replace('/api/v1', '').replace(/idp_\w+/, (id) => providerId ?? id)
    const reply = await fetch(`${settings.service.url}${path}${way.back.search}`, {
      redirect: 'manual',
      headers: {
        ...(await settings.service.headers()),
        ...{ 'x-forwarded-for': address, 'user-agent': 'a browser' },
        ...(cookie !== undefined && { [ssoCookieHeader]: cookie }),
      },
    })
    const text = await reply.text()
    const to = reply.headers.get('location')
    const location = to === null ? null : new URL(to)
    const said = new URLSearchParams(location?.hash.slice(1))
    const envelope = text === '' ? undefined : JSON.parse(text).error
    return {
      ...{ status: reply.status, location, session: tokenIn(reply.headers), headers: reply.headers },
      error: said.get('error') ?? envelope?.code ?? null,
      message: said.get('message') ?? envelope?.message ?? '',
    }
  }

  return {
    ...{ settings, issuer, other, connect, begin, finishSignIn, browser },
    async workspace(slug, fields) {
      const owner = await settings.owner(slug)
      const api = await settings.as(await browser(owner.email, owner.password), { workspace: slug })
      return { owner, api, provider: await connect(api, fields) }
    },
    async signIn(providerId, person) {
      return finishSignIn(await begin(providerId, person))
    },
    async stop() {
      await settings.stop()
      await Promise.all([issuer.stop(), other.stop()])
    },
  }
}

function tokenIn(headers: Headers): string | null {
  const [token = ''] = (headers.get(sessionCookieHeader) ?? '').split(' ')
  return token === '' ? null : token
}
