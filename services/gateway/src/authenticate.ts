import type { IncomingMessage } from 'node:http'
import { ApiError, Environment, environments, type Principal } from '@opsplane/contracts'
import type { RateHeaders, RateLimiter } from './rate-limit.js'
import type { Access } from './target.js'
import type { TokenCache, TokenQuestion } from './token-cache.js'

/** Who a request acts as (undefined on public routes), and its rate limit as response headers. */
export interface Admission {
  principal?: Principal
  rateHeaders: RateHeaders
}

export interface Authenticator {
  /** Throws ApiError: 401, 403, `workspace_required`, `validation_failed` for a header, or `rate_limited`. */
  admit(request: IncomingMessage, access: Access, clientAddress: string): Promise<Admission>
}

export interface AuthenticatorOptions {
  tokens: TokenCache
  /** Per person and workspace. */
  limiter: RateLimiter
  /** Per address, for requests without a valid token. */
  anonymousLimiter: RateLimiter
}

const bearer = /^Bearer +([\x21-\x7e]+) *$/i
/** Settings takes no longer ones; every token it makes is far shorter. */
const maxTokenLength = 500
const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { tokens, limiter, anonymousLimiter } = options

  /** A token nobody has vouched for yet counts against its address, so that tokens cannot be guessed fast. */
  const identify = async (question: TokenQuestion, clientAddress: string): Promise<Principal> => {
    const known = tokens.peek(question)
    if (known === undefined) anonymousLimiter.check(clientAddress)
    try {
      return await tokens.authenticate(question)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) anonymousLimiter.take(clientAddress)
      throw error
    }
  }

  return {
    async admit(request, access, clientAddress) {
      const environment = Environment.safeParse(request.headers['x-environment'] ?? 'production')
      if (access === 'public') {
        const rateHeaders = anonymousLimiter.take(clientAddress)
        if (!environment.success) throw invalidEnvironment()
        return { rateHeaders }
      }

      const token = readToken(request, () => anonymousLimiter.take(clientAddress))
      const slug = request.headers['x-workspace']
      const problem = !environment.success ? invalidEnvironment() : workspaceProblem(slug, access)
      if (problem !== null) {
        // Only who has a valid token learns what else is wrong with the request.
        await identify({ token, workspace: undefined, environment: 'production' }, clientAddress).catch(
          (error: unknown) => {
            if (!(error instanceof ApiError && error.status === 403)) throw error
          },
        )
        throw problem
      }

      const workspace = typeof slug === 'string' ? slug : undefined
      const question = { token, workspace, environment: environment.data ?? 'production' }
      const principal = await identify(question, clientAddress)
      const rateHeaders = limiter.take(`${principal.userId} ${principal.workspaceId ?? ''}`)
      return { principal, rateHeaders }
    },
  }
}

function readToken(request: IncomingMessage, onRefusal: () => void): string {
  const token = bearer.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined && token.length <= maxTokenLength) return token
  onRefusal()
  throw token === undefined
    ? new ApiError('unauthenticated', 'Send an access token: Authorization: Bearer <token>.')
    : new ApiError('invalid_token', 'The token is not valid.')
}

function workspaceProblem(slug: string | string[] | undefined, access: Access): ApiError | null {
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
