import type { Account, Instant, Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { accessibleWorkspaces } from '../workspace/queries.js'
import type { SessionOrigin, Sessions } from './sessions.js'

/** Opens a session for somebody who has proved to be this person. */
export type Enter = (user: Account, origin: SessionOrigin, now: Instant) => Promise<Session>

export interface EnterOptions {
  db: Drizzle
  sessions: Sessions
  cursors: CursorCodec
}

export function createEnter({ db, sessions, cursors }: EnterOptions): Enter {
  return async (user, origin, now) => {
    const session = await sessions.open(user.id, origin, now)
    const page = { userId: user.id, tokenId: '', limit: 200, binding: 'login', cursors }
    const { items } = await accessibleWorkspaces(db, page)
    return { ...session, tokenType: 'Bearer', user, workspaces: items }
  }
}
