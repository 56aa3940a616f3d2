import {
  type Account,
  ApiError,
  type Principal,
  type Session,
  type SsoLocation,
  type SsoStart,
  systemActor,
} from '@opsplane/contracts'
import { appendJournal, type Serialized } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import { toStatementRunner, type Vault } from '@opsplane/postgres'
import { constantTimeEqual, sha256Hex } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { requireAccount } from '../account/queries.js'
import { type Sessions, toSessionOrigin } from '../session/sessions.js'
import type { CompleteSignIn } from '../session/sign-in.js'
import type { Throttle } from '../session/throttle.js'
import { claimSingleUse } from '../single-use-calls.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { readToken } from '../token/bearer-token.js'
import type { ProviderAddresses } from './addresses.js'
import type { Admission } from './admission.js'
import type { Claims } from './claims.js'
import { type Flow, flowMs, openFlow, sealFlow, unknownFlow } from './flow.js'
import type { Issuers, RedeemedCode } from './issuers.js'
import { providerSealContext } from './providers.js'
import { findEnabledProvider, type ProviderOfWorkspace } from './queries.js'
import { SignInRefused } from './refusal.js'
import { saveSsoSession } from './sso-sessions.js'

export interface SignInOptions {
  issuers: Issuers
  admission: Admission
  addresses: ProviderAddresses
  vault: Vault
  throttle: Throttle
  sessions: Sessions
  serialized: Serialized
  completeSignIn: CompleteSignIn
}

/** The redirect of the browser to the provider, with the cookie to set. */
export interface StartedSignIn extends SsoLocation {
  cookie: { value: string; expiresAt: string }
}

/** The result: the URL to redirect the browser to, with a session after a successful sign-in. */
export interface FinishedSignIn {
  location: string
  session: Session | null
}

export type SsoSignIn = ReturnType<typeof createSsoSignIn>

type Context = Pick<ServiceContext, 'database' | 'relay' | 'log'>

/** The sign-in at a provider, from the redirect to the callback. */
export function createSsoSignIn({ database, relay, log }: Context, options: SignInOptions) {
  const { db } = database
  const { issuers, admission, addresses, vault, throttle, sessions, serialized, completeSignIn } = options

  const clientOf = async ({ provider, workspaceId }: ProviderOfWorkspace) => ({
    provider,
    secret: await vault.open(workspaceId, provider.sealedSecret, providerSealContext(provider.id)),
    redirectUri: addresses.redirectUri(provider.id),
  })

  const begin = async (
    { providerId, returnTo }: SsoStart,
    link: Flow['link'],
    now: string,
  ): Promise<StartedSignIn> => {
    addresses.redirectUri(providerId)
    const found = await findEnabledProvider(db, providerId)
    if (found === null) throw noProvider()
    const { location, ...expected } = await issuers.begin(await clientOf(found)).catch(asApiError)
    const expiresAt = new Date(Date.parse(now) + flowMs).toISOString()
    const value = await sealFlow(vault, { ...expected, providerId, returnTo, link, expiresAt })
    return { location, cookie: { value, expiresAt } }
  }

  /** Opens a session, unless the workspace's provider was disabled meanwhile. */
  const open = async (
    { provider, workspaceId }: ProviderOfWorkspace,
    { claims, idToken }: RedeemedCode,
    meta: RequestMeta,
  ): Promise<Session> => {
    const { account, identityId } = await admission.admit(provider, workspaceId, claims, meta)
    const proven = { account, methods: ['sso'] as const, providerId: provider.id, workspaceId }
    const session = await completeSignIn(proven, toSessionOrigin(meta), { now: meta.now, kind: 'web' })
    const sessionId = readToken(session.accessToken)?.id ?? ''
    const kept = {
      ...{ sessionId, accountId: account.id, providerId: provider.id, identityId, sid: claims.sid },
      sealedIdToken: await vault.seal(workspaceId, idToken, idTokenSealContext(sessionId)),
    }
    const isPresent = await serialized(
      { ...meta, tenant: workspaceScope(workspaceId) },
      async (_unit, tx) => {
        if ((await findEnabledProvider(tx, provider.id)) === null) return false
        await saveSsoSession(tx, kept)
        return true
      },
    )
    if (isPresent) return session
    await sessions.end({ accountId: account.id, id: sessionId, reason: 'provider_revoked' }, meta)
    throw turnedOff()
  }

  /** Checks that the session that started the link still exists, and returns its login. */
  const linking = async ({ userId, sessionId }: NonNullable<Flow['link']>, now: string): Promise<Account> => {
    const lasts = await sessions.expiryOf(sessionId)
    if (lasts !== null && lasts > now) return requireAccount(db, userId)
    throw new SignInRefused(
      'session_over',
      'The session you began with has ended. Sign in, and link the identity again.',
    )
  }

  const report = async (
    { provider, workspaceId }: ProviderOfWorkspace,
    { refusal, claims }: { refusal: SignInRefused; claims: Claims | null },
    meta: RequestMeta,
  ) => {
    const { reason, message } = refusal
    const claimedIdentity = { subject: claims?.subject ?? null, email: claims?.email ?? null }
    const after = { id: provider.id, reason, message, ...claimedIdentity }
    await db.transaction((tx) =>
      appendJournal(toStatementRunner(tx), {
        ...{ streamType: 'sso', streamId: `sso/${provider.id}`, tenant: workspaceScope(workspaceId) },
        ...{ type: 'identity_provider.sign_in_refused', actor: systemActor, createdAt: meta.now },
        ...{ requestId: meta.requestId, source: meta.source },
        resource: { type: 'identity_provider', id: provider.id, displayName: provider.name },
        data: { before: null, after, changes: Object.keys(after) },
      }),
    )
    relay.wake()
  }

  return {
    /** Throws `not_found`, `conflict` without a public origin, `upstream_error` if the provider does not respond. */
    start: (input: SsoStart, { now }: RequestMeta): Promise<StartedSignIn> => begin(input, null, now),

    /** Starts linking an identity to the login of a stepped-up session. Throws the errors of `start`, and `forbidden`. */
    startLink: (input: SsoStart, { principal, now }: RequestMeta): Promise<StartedSignIn> => {
      requireBrowser(principal)
      return begin(input, { userId: principal.userId, sessionId: principal.tokenId }, now)
    },

    /**
     * Handles the callback. Throws `invalid_token` if the sign-in was not started in this browser, `not_found` if the
     * provider is disabled, and `rate_limited`.
     */
    async finish(
      providerId: string,
      { answer, sealed }: { answer: URLSearchParams; sealed: string | undefined },
      meta: RequestMeta,
    ): Promise<FinishedSignIn> {
      const { now } = meta
      const flow = await openFlow(vault, sealed, { providerId, now })
      if (!constantTimeEqual(answer.get('state') ?? '', flow.state)) throw unknownFlow()
      const attempt = throttle.attempt(`sso ${flow.state}`, toSessionOrigin(meta).address)
      await throttle.begin(attempt, now)
      if (!(await claimSingleUse(database.sql, `sso ${sha256Hex(flow.state)}`, rememberedFor)))
        throw unknownFlow()
      const found = await findEnabledProvider(db, providerId)
      if (found === null) throw noProvider()
      const known: { claims: Claims | null } = { claims: null }
      try {
        const redeemed = await issuers.redeem(await clientOf(found), flow, answer)
        known.claims = redeemed.claims
        const session = flow.link === null ? await open(found, redeemed, meta) : null
        if (flow.link !== null) {
          const linked = { claims: redeemed.claims, login: await linking(flow.link, now) }
          await admission.link(found.provider, found.workspaceId, linked, meta)
        }
        await throttle.succeeded(attempt, now)
        return { location: addresses.page(flow.returnTo).href, session }
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error
        log.info({ err: error, providerId, requestId: meta.requestId }, 'a sign-in by a provider was refused')
        await report(found, { refusal: error, claims: known.claims }, meta)
        return { location: failurePage(addresses.page(flow.returnTo), error), session: null }
      }
    },
  }
}

/** Longer than the maximum duration of a sign-in. */
const rememberedFor = '15 minutes'

/** Context that a sealed ID token is bound to, in addition to its workspace. */
export const idTokenSealContext = (sessionId: string): string => `sso-session|${sessionId}`

/** Puts the error in the fragment, which the page can read but servers do not receive. */
function failurePage(page: URL, { reason, message }: SignInRefused): string {
  page.hash = new URLSearchParams({ error: reason, message }).toString()
  return page.href
}

/** Starting a sign-in is a request of a page, so a failure is returned as an ordinary API error. */
function asApiError(error: unknown): never {
  if (error instanceof SignInRefused) throw new ApiError('upstream_error', error.message, { cause: error })
  throw error
}

/** The error is the same for an unknown or disabled provider, and for one of another workspace. */
const noProvider = (): ApiError =>
  new ApiError('not_found', 'There is no such identity provider, or it is disabled.')

const turnedOff = () =>
  new SignInRefused('provider_refused', 'The workspace no longer allows sign-in with this provider.')

function requireBrowser({ tokenId, provedAt }: Principal): void {
  if (tokenId.startsWith('ses_') && provedAt !== undefined) return
  throw new ApiError(
    'forbidden',
    'An identity is linked in the session of a browser, which the provider sends back to it. Sign in by POST /auth/session.',
  )
}
