import { ApiError, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { account } from '../account/domain.js'
import { accessibleWorkspaces } from '../tenant/queries.js'
import { provesFactor } from './methods.js'
import type { ProvenPerson, SessionKind, SessionOrigin, Sessions } from './sessions.js'

/**
 * Opens a session for a person who has proved their identity. Throws `factor_required` with a challenge if the login
 * has a factor and none was proved, `invalid_credentials` if the password was replaced meanwhile.
 */
export type CompleteSignIn = (
  proven: ProvenPerson,
  origin: SessionOrigin,
  at: { now: Instant; kind: SessionKind },
) => Promise<Session>

/** Throws `factor_required` with a challenge if the login has a factor. */
export type RequireFactor = (proven: ProvenPerson, now: Instant) => Promise<void>

export interface CompleteSignInOptions {
  db: Drizzle
  sessions: Sessions
  cursors: CursorCodec
  requireFactor: RequireFactor
}

export function createCompleteSignIn(options: CompleteSignInOptions): CompleteSignIn {
  const { db, sessions, cursors, requireFactor } = options
  return async (proven, origin, at) => {
    const { account: user, methods } = proven
    if (!provesFactor(methods)) await requireFactor(proven, at.now)
    const openedSession = await sessions.open(proven, origin, at)
    if (openedSession === null) throw wrongCredentials()
    const { id: tokenId, ...session } = openedSession
    const page = { userId: user.id, tokenId, limit: 200, binding: 'login', cursors }
    const { items } = await accessibleWorkspaces(db, page)
    return { ...session, tokenType: 'Bearer', user: account.expose(user), workspaces: items }
  }
}

export const wrongCredentials = () =>
  new ApiError('invalid_credentials', 'The e-mail or the password is wrong.')
