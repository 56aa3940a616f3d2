import type { IncomingMessage } from 'node:http'
import {
  ApiError,
  Environment,
  environments,
  idPrefixes,
  type Principal,
  type RouteAccess,
} from '@opsplane/contracts'
import { parseNetwork } from '@opsplane/runtime'
import { findRefusal, type OpenAnswer, type OpenAnswers } from './open-answers/open-answers.js'
import type { RateHeaders, RateLimiter } from './rate-limit.js'
import { browserTokenPrefix, type SessionCookie } from './sign-in/session-cookie.js'
import type { TokenCache, VerifyRequest } from './token-cache.js'

export interface Authenticator {
  /**
   * The principal of a request; `undefined` for public routes and guests. Throws ApiError: 401, 403,
   * `workspace_required`, `validation_failed` for a header, or `rate_limited`. `onLimit` receives the rate limit as
   * response headers in every case.
   */
  authenticate(
    caller: Caller,
    access: RouteAccess,
    onLimit: (headers: RateHeaders) => void,
  ): Promise<Principal | undefined>
  /**
   * Throws unless the caller would still be authenticated, with all permissions they had
   * before. Does not count against rate limits.
   */
  recheck(caller: Caller, then: Principal): Promise<void>
  /** Rechecks periodically a caller whose response is still in progress; calls `refuse` once they would be rejected. */
  follow(caller: Caller, then: Principal, refuse: (error: ApiError) => void): OpenAnswer
}

export interface Caller {
  request: IncomingMessage
  clientAddress: string
}

export interface AuthenticatorOptions {
  tokens: TokenCache
  openAnswers: Pick<OpenAnswers, 'follow'>
  /** Per API key; for sessions per user and workspace. */
  limiter: RateLimiter
  /** Per network, for requests without a valid token. */
  anonymousLimiter: RateLimiter
  /** Per network, for tokens that settings has not verified recently. */
  unverifiedTokenLimiter: RateLimiter
  sessionCookie: Pick<SessionCookie, 'tokenOf'>
}

const bearer = /^Bearer +([\x21-\x7e]+) *$/i
/** Maximum length accepted by settings; the tokens it issues are far shorter. */
const maxTokenLength = 500
const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const keyPrefix = `${idPrefixes.token}_`

/** Maximum tokens without a recent verification that are verified concurrently. */
const maxUnverifiedTokens = 32

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { tokens, openAnswers, limiter, anonymousLimiter, unverifiedTokenLimiter, sessionCookie } = options
  const readToken = tokenReader(sessionCookie)
  /** The verification request for a request that was authenticated before. */
  const questionAgain = (request: IncomingMessage) => {
    const environment = Environment.safeParse(request.headers['x-environment'] ?? 'production')
    return buildVerifyRequest(
      request,
      readToken(request, () => undefined),
      environment.data,
    )
  }
  let unverified = 0

  /** Refuses more unverified tokens than settings can verify; recently verified tokens skip this check. */
  const admit = (network: string) => {
    unverifiedTokenLimiter.take(network)
    if (unverified >= maxUnverifiedTokens)
      throw new ApiError('service_unavailable', 'Too many new tokens at once. Try again in a moment.')
    unverified++
  }

  /**
   * A rejected request counts against its network. That limit never blocks requests with a valid token; other requests
   * are answered with 429.
   */
  const identify = async (
    question: VerifyRequest,
    clientAddress: string,
    onLimit: OnLimit,
  ): Promise<Principal> => {
    const network = parseNetwork(clientAddress)
    let admitted = false
    try {
      return await tokens.authenticate(question, () => {
        admit(network)
        admitted = true
      })
    } catch (error) {
      onLimit(isDenial(error) ? anonymousLimiter.take(network) : anonymousLimiter.state(network))
      throw error
    } finally {
      if (admitted) unverified--
    }
  }
  const charge = ({ tokenId, userId, workspaceId }: Principal, onLimit: OnLimit) =>
    onLimit(limiter.take(tokenId.startsWith(keyPrefix) ? tokenId : `${userId} ${workspaceId ?? ''}`))

  return {
    async authenticate({ request, clientAddress }, access, onLimit) {
      const environment = Environment.safeParse(request.headers['x-environment'] ?? 'production')
      if (
        access === 'public' ||
        (access === 'guest' && !isPlatformToken(parseBearerToken(request)) && !sessionCookie.tokenOf(request))
      ) {
        onLimit(anonymousLimiter.take(parseNetwork(clientAddress)))
        if (!environment.success) throw invalidEnvironment()
        return undefined
      }

      const token = readToken(request, () => onLimit(anonymousLimiter.take(parseNetwork(clientAddress))))
      const slug = request.headers['x-workspace']
      const problem = !environment.success ? invalidEnvironment() : workspaceProblem(slug, access)
      if (problem !== null) {
        // Other problems of the request are revealed only to callers with a valid token.
        const question = { token, workspace: undefined, environment: 'production' }
        const principal = await identify(question, clientAddress, onLimit).catch((error: unknown) => {
          if (!(error instanceof ApiError && error.status === 403)) throw error
        })
        if (principal) charge(principal, onLimit)
        throw problem
      }

      const question = buildVerifyRequest(request, token, environment.data)
      const principal = await identify(question, clientAddress, onLimit)
      charge(principal, onLimit)
      return principal
    },

    async recheck({ request }, then) {
      const { permissions } = await tokens.authenticate(questionAgain(request))
      const error = findRefusal(then, permissions)
      if (error) throw error
    },

    follow: ({ request }, principal, refuse) =>
      openAnswers.follow({ question: questionAgain(request), principal, refuse }),
  }
}

function buildVerifyRequest(
  { headers }: IncomingMessage,
  token: string,
  environment: Environment = 'production',
): VerifyRequest {
  const slug = headers['x-workspace']
  return { token, workspace: typeof slug === 'string' ? slug : undefined, environment }
}

type OnLimit = (headers: RateHeaders) => void

/** A rejection counts only against the source address, since a rejected token identifies no caller. */
const isDenial = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403)

/** The token in the Authorization header, if its scheme is Bearer. */
export const parseBearerToken = ({ headers }: IncomingMessage): string | undefined =>
  bearer.exec(headers.authorization ?? '')?.[1]

/** Whether settings has issued the token, judging by its prefix. */
const isPlatformToken = (token: string | undefined): boolean => token?.startsWith('ops_') === true

/** The Authorization header takes precedence over the cookie. */
function tokenReader({ tokenOf }: Pick<SessionCookie, 'tokenOf'>) {
  const find = (request: IncomingMessage): string => {
    if (request.headers.authorization === undefined) {
      const token = tokenOf(request)
      if (token !== undefined) return token
    }
    const token = parseBearerToken(request)
    if (token === undefined)
      throw new ApiError('unauthenticated', 'Send an access token: Authorization: Bearer <token>.')
    if (token.length > maxTokenLength || token.startsWith(browserTokenPrefix))
      throw new ApiError('invalid_token', 'The token is not valid.')
    return token
  }
  return (request: IncomingMessage, onRefusal: () => void): string => {
    try {
      return find(request)
    } catch (error) {
      onRefusal()
      throw error
    }
  }
}

function workspaceProblem(slug: string | string[] | undefined, access: RouteAccess): ApiError | null {
  if (slug === undefined || slug === '') {
    if (access === 'account' && slug === undefined) return null
    return new ApiError('workspace_required', 'Name the workspace: X-Workspace: <slug>.')
  }
  if (typeof slug === 'string' && slugPattern.test(slug)) return null
  return new ApiError('workspace_forbidden', 'The token has no access to this workspace.')
}

function invalidEnvironment(): ApiError {
  const message = `must be one of ${environments.join(', ')}`
  return new ApiError('validation_failed', `X-Environment ${message}.`, {
    details: [
      {
        in: 'header',
        path: '/X-Environment',
        code: 'invalid_value',
        message,
        params: { values: environments },
      },
    ],
  })
}
