import { ApiError, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { account } from '../account/domain.js'
import { accessibleWorkspaces } from '../tenant/queries.js'
import type { ClaimedAccount, SessionKind, SessionOrigin, Sessions } from './sessions.js'

/**
 * Opens a session for somebody who has proved to be this person by this password. Throws `invalid_credentials` when it
 * was replaced meanwhile.
 */
export type OpenSession = (
  user: ClaimedAccount,
  origin: SessionOrigin,
  at: { now: Instant; kind: SessionKind },
) => Promise<Session>

export interface OpenSessionOptions {
  db: Drizzle
  sessions: Sessions
  cursors: CursorCodec
}

export function createOpenSession({ db, sessions, cursors }: OpenSessionOptions): OpenSession {
  return async (user, origin, at) => {
    const session = await sessions.open(user, origin, at)
    if (session === null) throw wrongCredentials()
    const page = { userId: user.id, tokenId: '', limit: 200, binding: 'login', cursors }
    const { items } = await accessibleWorkspaces(db, page)
    return { ...session, tokenType: 'Bearer', user: account.expose(user), workspaces: items }
  }
}

export const wrongCredentials = () =>
  new ApiError('invalid_credentials', 'The e-mail or the password is wrong.')
