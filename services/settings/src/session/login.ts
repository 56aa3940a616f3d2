import { ApiError, type Credentials, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { type AccountState, account } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { accountByEmail } from '../account/queries.js'
import type { Enter } from './enter.js'
import type { SessionOrigin } from './sessions.js'
import type { Throttle } from './throttle.js'

/** Exchanges credentials for a session. Throws `invalid_credentials`, `rate_limited`, `service_unavailable`. */
export type Login = (credentials: Credentials, origin: SessionOrigin, now: Instant) => Promise<Session>

export interface LoginOptions {
  db: Drizzle
  passwords: Passwords
  throttle: Throttle
  enter: Enter
}

/**
 * An unknown email takes the same way as a wrong password: the same throttle, the same hash work, the same answer.
 * An attempt is counted when its turn to be hashed has come: what is refused for want of room costs no statement and
 * is held against nobody.
 */
export function createLogin({ db, passwords, throttle, enter }: LoginOptions): Login {
  return async ({ email, password }, origin, now) => {
    const attempt = throttle.attempt(email, origin.address)
    throttle.refuseKnown(attempt, now)
    const found: { account: AccountState | null } = { account: null }
    const matches = await passwords.matches(password, async () => {
      await throttle.begin(attempt, now)
      found.account = await accountByEmail(db, email)
      return found.account?.passwordHash ?? null
    })
    const user = matches ? found.account : null
    if (user === null) throw new ApiError('invalid_credentials', 'The e-mail or the password is wrong.')
    await throttle.succeeded(attempt, now)

    return enter(account.expose(user), origin, now)
  }
}
