import { ApiError } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { findValidToken, type TokenPurpose, type ValidToken } from '../account/account-tokens.js'
import { toSessionOrigin } from '../session/sessions.js'
import type { Throttle } from '../session/throttle.js'

/** Of what token it is, if it is good for one of these. Throws `invalid_token` and `rate_limited`. */
export type CheckToken = (
  token: string,
  purposes: readonly [TokenPurpose, ...TokenPurpose[]],
  meta: RequestMeta,
) => Promise<ValidToken>

/** A wrong token is held against the network it came from. */
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

/** Never issued, used, replaced, of another person, expired: the answer is the same for all. */
export function invalidAccountToken(): ApiError {
  return new ApiError('invalid_token', 'The token is not valid: it was used or replaced, or has expired.')
}
