import { ApiError, type Credentials, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { account } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { accountByEmail } from '../account/queries.js'
import type { Enter } from './enter.js'
import type { SessionOrigin } from './sessions.js'
import { createThrottle } from './throttle.js'

/** Exchanges credentials for a session. Throws `invalid_credentials`, `rate_limited`, `service_unavailable`. */
export type Login = (credentials: Credentials, origin: SessionOrigin, now: Instant) => Promise<Session>

export interface LoginOptions {
  db: Drizzle
  passwords: Passwords
  enter: Enter
}

const minuteMs = 60_000

/**
 * An unknown email takes the same way as a wrong password: the same throttle, the same hash work, the same
 * answer. Failures slow down both their account and their address.
 */
export function createLogin({ db, passwords, enter }: LoginOptions): Login {
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

    return enter(account.expose(known), origin, now)
  }
}
