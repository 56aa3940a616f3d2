import { ApiError, type Credentials, type ErrorCode, type Instant, type Session } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { AccountState } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { accountByEmail } from '../account/queries.js'
import type { LoginFailureCount } from './login-failures.js'
import type { SessionKind, SessionOrigin } from './sessions.js'
import { type CompleteSignIn, wrongCredentials } from './sign-in.js'
import type { Throttle } from './throttle.js'

/** Returns the account of these credentials. Throws `invalid_credentials`, `rate_limited`, `service_unavailable`. */
export type Identify = (
  credentials: Credentials,
  origin: SessionOrigin,
  now: Instant,
) => Promise<AccountState>

/** Exchanges credentials for a session. Throws the errors of `Identify`. */
export type Login = (
  credentials: Credentials,
  origin: SessionOrigin,
  at: { now: Instant; kind: SessionKind },
) => Promise<Session>

export interface IdentifyOptions {
  db: Drizzle
  passwords: Passwords
  throttle: Throttle
  failures: LoginFailureCount
}

/**
 * An unknown e-mail takes the same path as a wrong password: the same throttle, the same hash work, the same
 * response. An attempt is counted when its hash begins: an attempt rejected because the queue is full runs no
 * statement and does not count as a failure.
 */
export function createIdentify({ db, passwords, throttle, failures }: IdentifyOptions): Identify {
  const identify: Identify = async ({ email, password }, origin, now) => {
    const attempt = throttle.attempt(email, origin.address)
    throttle.refuseKnown(attempt, now)
    const found: { account: AccountState | null } = { account: null }
    const matches = await passwords.matches(password, async () => {
      await throttle.begin(attempt, now)
      found.account = await accountByEmail(db, email)
      return found.account?.passwordHash ?? null
    })
    const user = matches ? found.account : null
    if (user === null) throw wrongCredentials()
    await throttle.succeeded(attempt, now)
    return user
  }

  return async (credentials, origin, now) => {
    try {
      return await identify(credentials, origin, now)
    } catch (error) {
      const kind = error instanceof ApiError ? failureKinds[error.code] : undefined
      if (kind) failures.note(credentials.email, kind, { address: origin.address, now })
      throw error
    }
  }
}

const failureKinds: { [Code in ErrorCode]?: 'failed' | 'refused' } = {
  invalid_credentials: 'failed',
  rate_limited: 'refused',
}

export const createLogin =
  (identify: Identify, completeSignIn: CompleteSignIn): Login =>
  async (credentials, origin, at) => {
    const account = await identify(credentials, origin, at.now)
    return completeSignIn({ account, methods: ['password'] }, origin, at)
  }
