import { ApiError, type Environment, type Instant, invalidField, type TokenState } from '@opsplane/contracts'

/** The rights of an API key. */
export type Grant = Pick<TokenState, 'scopes' | 'environments' | 'expiresAt'>

/** The creator of a key, or the caller who rotates it, with the limits of every key they issue. */
export interface Issuer {
  /** The session or key of the request. */
  tokenId: string
  permissions: readonly string[]
  /** `null`: every environment. */
  environments: readonly Environment[] | null
  /** `null`: no expiry, as for a session. */
  expiresAt: Instant | null
}

/**
 * A key must not exceed its issuer's scopes, environments or expiry. Otherwise a limited key could issue an unlimited
 * one. Throws `insufficient_scope` or `validation_failed`.
 */
export function checkWithinGrant(grant: Grant, issuer: Issuer, now: Instant): void {
  checkScopes(grant.scopes, issuer.permissions)
  checkEnvironments(grant.environments, issuer.environments)
  if (grant.expiresAt !== null && grant.expiresAt <= now) {
    throw invalidField('/expiresAt', 'must_be_future', 'The expiry must lie in the future.')
  }
  if (issuer.expiresAt !== null && (grant.expiresAt === null || grant.expiresAt > issuer.expiresAt)) {
    throw invalidField(
      '/expiresAt',
      'beyond_issuer',
      `The key this request is made with expires at ${issuer.expiresAt}; one it issues cannot live longer.`,
    )
  }
}

function checkScopes(scopes: readonly string[], heldPermissions: readonly string[]) {
  const missing = scopes.filter((scope) => !heldPermissions.includes(scope))
  if (missing.length === 0) return
  const message = `You do not have the permissions: ${missing.join(', ')}.`
  throw new ApiError('insufficient_scope', message, {
    details: [{ in: 'body', path: '/scopes', code: 'scope_not_held', message, params: { missing } }],
  })
}

function checkEnvironments(
  requestedEnvironments: readonly Environment[] | null,
  keyEnvironments: readonly Environment[] | null,
) {
  if (keyEnvironments === null || isWithin(requestedEnvironments, keyEnvironments)) return
  const message = `The key of this request is valid in ${keyEnvironments.join(', ')} only.`
  throw new ApiError('environment_forbidden', message, {
    details: [{ in: 'body', path: '/environments', code: 'environment_not_held', message }],
  })
}

/** Whether all `environments` are within `reach`; `null` stands for every environment. */
export function isWithin(
  environments: readonly Environment[] | null,
  reach: readonly Environment[] | null,
): boolean {
  return reach === null || (environments?.every((environment) => reach.includes(environment)) ?? false)
}
