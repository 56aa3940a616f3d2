import type { SsoLogout } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'
import { ssoSessions } from '../schema/provider.js'
import { requireSession } from '../session/own-session.js'
import { type Sessions, toSessionOrigin } from '../session/sessions.js'
import type { Throttle } from '../session/throttle.js'
import { claimSingleUse } from '../single-use-calls.js'
import type { ProviderAddresses } from './addresses.js'
import type { StoredProvider } from './domain.js'
import { clockToleranceSeconds, type Issuers, signatureAlgorithms } from './issuers.js'
import { providerSealContext } from './providers.js'
import { findEnabledProvider, findIdentity } from './queries.js'
import { idTokenSealContext } from './sign-in.js'
import { endSsoSessions } from './sso-sessions.js'

export interface LogoutOptions {
  issuers: Issuers
  addresses: ProviderAddresses
  vault: Vault
  throttle: Throttle
  sessions: Sessions
}

export type SsoLogouts = ReturnType<typeof createLogouts>

/** Maximum age of a logout token. */
const oldestToken = '5 minutes'
/** Longer than a token is accepted. */
const rememberedFor = '15 minutes'

const noSessions = 'An API key has no sessions; revoke the key instead.'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

const LogoutClaims = z
  .looseObject({
    iat: z.number(),
    jti: z.string().min(1).max(500),
    sub: z.string().min(1).max(255).optional(),
    sid: z.string().min(1).max(255).optional(),
    events: z.record(z.string(), z.unknown()).refine((events) => typeof events[logoutEvent] === 'object'),
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined)

/** Logout at the provider and here, started here by the person or reported by the provider. */
export function createLogouts(
  { database, relay, log }: Pick<ServiceContext, 'database' | 'relay' | 'log'>,
  { issuers, addresses, vault, throttle, sessions }: LogoutOptions,
) {
  const { db } = database

  /** The provider's logout page; `null` if the session is not of a provider, or the provider has no such page. */
  const pageOfProvider = async (sessionId: string): Promise<string | null> => {
    const [row] = await db.select().from(ssoSessions).where(eq(ssoSessions.sessionId, sessionId))
    const found = row && (await findEnabledProvider(db, row.providerId))
    if (!found) return null
    const { provider, workspaceId } = found
    const [secret, idToken] = await Promise.all([
      vault.open(workspaceId, provider.sealedSecret, providerSealContext(provider.id)),
      vault.open(workspaceId, row.sealedIdToken, idTokenSealContext(sessionId)),
    ])
    return issuers.endSession({ provider, secret }, { idToken, returnTo: addresses.page('/').href })
  }

  /** `null` if the token is invalid. */
  const verified = async ({ issuer, clientId }: StoredProvider, token: string) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, await issuers.keysOf(issuer), {
        ...{ issuer, audience: clientId, algorithms: signatureAlgorithms },
        ...{ clockTolerance: clockToleranceSeconds, maxTokenAge: oldestToken },
      })
      if (!types.has(protectedHeader.typ?.toLowerCase())) throw new Error('it is a token of another type')
      return parsed(payload)
    } catch (error) {
      log.info({ err: error }, 'a logout token was refused')
      return null
    }
  }

  return {
    /** Ends the session of the request. Returns the URL to continue at. */
    async logout(meta: RequestMeta): Promise<SsoLogout> {
      const { userId: accountId, tokenId: id } = requireSession(meta, noSessions)
      const location = await pageOfProvider(id).catch((error: unknown) => {
        log.warn(
          { err: error, requestId: meta.requestId },
          'an identity provider does not say where to log out',
        )
        return null
      })
      await sessions.end({ accountId, id, reason: 'logout' }, meta)
      return { location }
    },

    /**
     * Handles a logout reported by the provider: the sessions of the person end. Returns the reason if the token is
     * rejected, otherwise `null`. Throws `rate_limited`.
     */
    async loggedOut(providerId: string, token: string, meta: RequestMeta): Promise<string | null> {
      const attempt = throttle.attempt(`sso logout ${token}`, toSessionOrigin(meta).address)
      await throttle.begin(attempt, meta.now)
      const found = await findEnabledProvider(db, providerId)
      if (found === null) return invalidLogoutToken
      const { provider } = found
      const claims = await verified(provider, token)
      if (claims === null) return invalidLogoutToken
      const { sub: subject, sid, jti } = claims
      const singleUseKey = `sso logout ${sha256Hex(`${providerId} ${jti}`)}`
      if (!(await claimSingleUse(database.sql, singleUseKey, rememberedFor))) return invalidLogoutToken
      await throttle.succeeded(attempt, meta.now)
      const identity =
        subject === undefined
          ? null
          : await findIdentity(db, { providerId, issuer: provider.issuer, subject })
      if (subject !== undefined && identity === null) return null
      const sessionFilter = {
        providerId,
        ...(identity !== null && { identityId: identity.id }),
        ...(sid !== undefined && { sid }),
      }
      await db.transaction((tx) =>
        endSsoSessions(tx, sessions, sessionFilter, { ...meta, reason: 'provider_logout' }),
      )
      relay.wake()
      return null
    },
  }
}

/** The type required by the standard, and those that older providers use. */
const types = new Set<string | undefined>(['logout+jwt', 'jwt', undefined])

const parsed = (payload: JWTPayload) => LogoutClaims.parse(payload)

/** Does not reveal whether the token is invalid or a replay. */
const invalidLogoutToken = 'The logout token is not valid, or was sent before.'
