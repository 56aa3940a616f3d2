import { ApiError, type Credentials, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { account } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { accountByEmail } from '../account/queries.js'
import { accessibleWorkspaces } from '../workspace/queries.js'
import type { SessionOrigin, Sessions } from './sessions.js'
import { createThrottle } from './throttle.js'

/** Exchanges credentials for a session. Throws `invalid_credentials`, `rate_limited`, `service_unavailable`. */
export type Login = (credentials: Credentials, origin: SessionOrigin, now: Instant) => Promise<Session>

export interface LoginOptions {
  db: Drizzle
  passwords: Passwords
  sessions: Sessions
  cursors: CursorCodec
}

const minuteMs = 60_000

/**
 * An unknown email takes the same way as a wrong password: the same throttle, the same hash work, the same
 * answer. Failures slow down both their account and their address.
 */
export function createLogin({ db, passwords, sessions, cursors }: LoginOptions): Login {
  const slow = { baseMs: 1_000, maxMs: 15 * minuteMs, forgetMs: 60 * minuteMs }
  const perAccount = createThrottle({ ...slow, freeFailures: 5 })
  const perAddress = createThrottle({ ...slow, freeFailures: 50 })

  return async ({ email, password }, origin, now) => {
    perAccount.begin(email, now)
    perAddress.begin(origin.address, now)
    const known = await accountByEmail(db, email)
    if (!(await passwords.matches(password, known?.passwordHash ?? null)) || known === null) {
      throw new ApiError('invalid_credentials', 'The e-mail or the password is wrong.')
    }
    perAccount.forgive(email)
    perAddress.withdraw(origin.address)

    const session = await sessions.open(known.id, origin, now)
    const page = { userId: known.id, tokenId: '', limit: 200, binding: 'login', cursors }
    const { items } = await accessibleWorkspaces(db, page)
    return { ...session, tokenType: 'Bearer', user: account.expose(known), workspaces: items }
  }
}
