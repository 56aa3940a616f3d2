import { ApiError } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { findValidToken, type TokenPurpose, type ValidToken } from '../account/account-tokens.js'
import { toSessionOrigin } from '../session/sessions.js'
import type { Throttle } from '../session/throttle.js'

/** Checks that a token is valid for one of these purposes. Throws `invalid_token` and `rate_limited`. */
export type CheckToken = (
  token: string,
  purposes: readonly [TokenPurpose, ...TokenPurpose[]],
  meta: RequestMeta,
) => Promise<ValidToken>

/** A wrong token counts as a failed attempt of its network. */
export function createTokenCheck({ db, throttle }: { db: Drizzle; throttle: Throttle }): CheckToken {
  return async (token, purposes, meta) => {
    const attempt = throttle.attempt(`${purposes[0]} ${token}`, toSessionOrigin(meta).address)
    await throttle.begin(attempt, meta.now)
    const good = await findValidToken(db, token, { purposes, now: meta.now })
    if (good === null) throw invalidAccountToken()
    await throttle.succeeded(attempt, meta.now)
    return good
  }
}

/** The error is the same for tokens that were never issued, used, replaced, expired, or issued to another person. */
export function invalidAccountToken(): ApiError {
  return new ApiError('invalid_token', 'The token is not valid: it was used or replaced, or has expired.')
}
