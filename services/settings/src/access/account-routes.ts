import { ApiError, type Instant, Me, type Principal, type TokenState } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { accountById } from '../account/queries.js'
import type { Sessions } from '../session/sessions.js'
import { currentWorkspace } from '../tenant/queries.js'
import { validityEnd } from '../token/domain.js'
import { findToken } from '../token/queries.js'

/** Routes about the calling user. */
export function accountRoutes({ database: { db } }: ServiceContext, sessions: Sessions): Route[] {
  return [
    defineRoute({
      operationId: 'getMe',
      method: 'get',
      path: '/auth/me',
      summary: 'Get the current user and workspace',
      description:
        'With X-Workspace, also returns the workspace, its environment, and the permissions of the caller in it.',
      tag: 'Authentication',
      scope: 'authenticated',
      workspace: 'none',
      response: Me,
      handler: async ({ meta: { principal } }) => {
        const [user, credential, workspace] = await Promise.all([
          accountById(db, principal.userId),
          findCredential(db, sessions, principal),
          currentWorkspace(db, principal),
        ])
        if (user === null) throw new ApiError('invalid_token', 'The login of this token no longer exists.')
        const { environment = null, permissions, operator = false } = principal
        return { user, credential, workspace, environment, permissions, operator }
      },
    }),
  ]
}

async function findCredential(
  db: Drizzle,
  sessions: Sessions,
  { tokenId }: Principal,
): Promise<Me['credential']> {
  if (!tokenId.startsWith('tok_')) {
    return { id: tokenId, kind: 'session', name: null, expiresAt: await sessions.expiryOf(tokenId) }
  }
  const key = await findToken(db, tokenId)
  return { id: tokenId, kind: 'api_key', name: key?.name ?? null, expiresAt: computeEnd(key) }
}

const computeEnd = (key: TokenState | null): Instant | null => (key === null ? null : validityEnd(key))
