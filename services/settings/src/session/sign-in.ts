import { ApiError, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { account } from '../account/domain.js'
import { accessibleWorkspaces } from '../tenant/queries.js'
import type { ProvenPerson, SessionKind, SessionOrigin, Sessions } from './sessions.js'

/** Opens a session for what a person has proved. Throws `invalid_credentials` when the password was replaced meanwhile. */
export type CompleteSignIn = (
  proven: ProvenPerson,
  origin: SessionOrigin,
  at: { now: Instant; kind: SessionKind },
) => Promise<Session>

export interface CompleteSignInOptions {
  db: Drizzle
  sessions: Sessions
  cursors: CursorCodec
}

export function createCompleteSignIn({ db, sessions, cursors }: CompleteSignInOptions): CompleteSignIn {
  return async (proven, origin, at) => {
    const opened = await sessions.open(proven, origin, at)
    if (opened === null) throw wrongCredentials()
    const { id: tokenId, ...session } = opened
    const page = { userId: proven.account.id, tokenId, limit: 200, binding: 'login', cursors }
    const { items } = await accessibleWorkspaces(db, page)
    return { ...session, tokenType: 'Bearer', user: account.expose(proven.account), workspaces: items }
  }
}

export const wrongCredentials = () =>
  new ApiError('invalid_credentials', 'The e-mail or the password is wrong.')
