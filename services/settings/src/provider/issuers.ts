import type { Outbound } from '@opsplane/http'
import { createRemoteJWKSet, customFetch as jwksFetch } from 'jose'
import { LRUCache } from 'lru-cache'
import * as oidc from 'openid-client'
import { type Claims, parseClaims } from './claims.js'
import type { StoredProvider } from './domain.js'
import { issuerFetch } from './issuer-calls.js'
import { SignInRefused } from './refusal.js'

/** Values stored in the browser during a sign-in at the provider, to verify the callback. */
export interface ExpectedCallback {
  state: string
  nonce: string
  verifier: string
}

/** The data needed to act as a client of a provider. */
export interface ProviderClient {
  provider: Pick<StoredProvider, 'issuer' | 'clientId' | 'scopes'>
  secret: string
  redirectUri: string
}

export interface RedeemedCode {
  claims: Claims
  idToken: string
}

export type Issuers = ReturnType<typeof createIssuers>

/** Maximum difference of the provider's clock. */
export const clockToleranceSeconds = 60
/** Cache duration of a discovery document, in milliseconds. */
const discoveredMs = 5 * 60_000
const maxIssuers = 500

/** Only asymmetric algorithms, so that only the provider can sign. */
export const signatureAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** Client of identity providers: OpenID Connect, authorization code with PKCE. */
export function createIssuers(outbound: Pick<Outbound, 'request' | 'checkUrl'>) {
  const discovered = new LRUCache<string, oidc.ServerMetadata>({ max: maxIssuers, ttl: discoveredMs })
  const keys = new LRUCache<string, ReturnType<typeof createRemoteJWKSet>>({
    max: maxIssuers,
    ttl: discoveredMs,
  })

  /** Throws `SignInRefused` if the provider does not respond, or reports another issuer. */
  const metadataOf = async (issuer: string): Promise<oidc.ServerMetadata> => {
    const known = discovered.get(issuer)
    if (known) return known
    const config = await withRefusal('does not answer as one', () =>
      oidc.discovery(new URL(issuer), 'discovery', undefined, undefined, {
        [oidc.customFetch]: issuerFetch(outbound),
        ...(isPlain(issuer) && { execute: [oidc.allowInsecureRequests] }),
      }),
    )
    const metadata = config.serverMetadata()
    // The client library ignores a trailing slash in its own comparison.
    if (metadata.issuer !== issuer)
      throw new SignInRefused(
        'provider_failed',
        `The identity provider has the issuer ${metadata.issuer}, not ${issuer}. An owner of the workspace must create it again with that issuer.`,
      )
    discovered.set(issuer, metadata)
    return metadata
  }

  const configurationOf = async ({ provider, secret }: Omit<ProviderClient, 'redirectUri'>) => {
    const { issuer, clientId } = provider
    const metadata = await metadataOf(issuer)
    const config = new oidc.Configuration(
      metadata,
      clientId,
      { [oidc.clockTolerance]: clockToleranceSeconds },
      chooseClientAuth(metadata, secret),
    )
    config[oidc.customFetch] = issuerFetch(outbound)
    oidc.enableNonRepudiationChecks(config)
    if (isPlain(issuer)) oidc.allowInsecureRequests(config)
    return { config, metadata }
  }

  /** Checks a URL to redirect the browser to. Throws `SignInRefused` if the address is not allowed. */
  const page = (url: URL): string => {
    try {
      outbound.checkUrl(url.href)
    } catch (error) {
      throw new SignInRefused(
        'provider_failed',
        'The identity provider names a page that is none of https.',
        {
          cause: error,
        },
      )
    }
    return url.href
  }

  return {
    /** Starts a sign-in. Returns the URL to redirect the browser to, and the values to keep until the callback. */
    async begin(client: ProviderClient): Promise<ExpectedCallback & { location: string }> {
      const { config } = await configurationOf(client)
      const expected = {
        ...{ state: oidc.randomState(), nonce: oidc.randomNonce() },
        verifier: oidc.randomPKCECodeVerifier(),
      }
      const { state, nonce, verifier } = expected
      const url = oidc.buildAuthorizationUrl(config, {
        ...{ redirect_uri: client.redirectUri, scope: client.provider.scopes.join(' '), state, nonce },
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { ...expected, location: page(url) }
    },

    /** Exchanges the code for the claims about the person. `answer`: the query of the redirect. */
    async redeem(
      client: ProviderClient,
      { state, nonce, verifier }: ExpectedCallback,
      answer: URLSearchParams,
    ): Promise<RedeemedCode> {
      const { config, metadata } = await configurationOf(client)
      const url = new URL(client.redirectUri)
      url.search = answer.toString()
      const tokens = await withRefusal('has not confirmed your sign-in', () =>
        oidc.authorizationCodeGrant(config, url, {
          ...{
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          },
        }),
      )
      const own: Readonly<Record<string, unknown>> = tokens.claims() ?? {}
      // Some providers keep ID tokens short and return the other claims from the userinfo endpoint.
      const tokenClaims =
        metadata.userinfo_endpoint === undefined
          ? {}
          : await withRefusal('does not say who you are', () =>
              oidc.fetchUserInfo(config, tokens.access_token, String(own.sub)),
            )
      return { claims: parseClaims({ ...tokenClaims, ...own }), idToken: tokens.id_token ?? '' }
    },

    /** The provider's logout page; `null` if it has none. */
    async endSession(
      client: Omit<ProviderClient, 'redirectUri'>,
      { idToken, returnTo }: { idToken: string; returnTo: string },
    ): Promise<string | null> {
      const { config, metadata } = await configurationOf(client)
      if (metadata.end_session_endpoint === undefined) return null
      return page(
        oidc.buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }),
      )
    },

    /** The keys the provider signs with. */
    async keysOf(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
      const known = keys.get(issuer)
      if (known) return known
      const { jwks_uri: uri } = await metadataOf(issuer)
      if (uri === undefined)
        throw new SignInRefused('provider_failed', 'The identity provider shows no keys.')
      const made = createRemoteJWKSet(new URL(uri), {
        [jwksFetch]: (url, options) => issuerFetch(outbound)(url, options),
      })
      keys.set(issuer, made)
      return made
    },
  }
}

const isPlain = (issuer: string): boolean => issuer.startsWith('http:')

/** Authenticates with a header if the provider supports it, which is the default of the standard. */
function chooseClientAuth(
  { token_endpoint_auth_methods_supported: supported }: oidc.ServerMetadata,
  secret: string,
): oidc.ClientAuth {
  const byHeader = supported === undefined || supported.includes('client_secret_basic')
  return byHeader ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
}

/** Converts a provider failure to an error for the person at the browser; the cause is for the log. */
async function withRefusal<T>(failure: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof oidc.AuthorizationResponseError)
      throw new SignInRefused(
        'provider_refused',
        `The identity provider has refused: ${shown(error.error)}.`,
        {
          cause: error,
        },
      )
    throw new SignInRefused('provider_failed', `The identity provider ${failure}. Begin the sign-in again.`, {
      cause: error,
    })
  }
}

/** Shows only an OAuth error code, no other text of the provider. */
const shown = (code: string): string => (/^[a-z_]{1,50}$/.test(code) ? code : 'it gives no reason')
