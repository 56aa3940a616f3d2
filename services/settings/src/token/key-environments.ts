import { ApiError, type Environment, environments, type Principal } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { findToken } from './queries.js'

/** The environments a credential is valid in; `null` for all, as for sessions. */
export async function findKeyEnvironments(
  db: Pick<Drizzle, 'select'>,
  { tokenId }: Pick<Principal, 'tokenId'>,
): Promise<Environment[] | null> {
  return tokenId.startsWith('tok_') ? ((await findToken(db, tokenId))?.environments ?? null) : null
}

/**
 * Members, roles and the workspace itself are the same in every environment. A key limited to some environments must
 * not change them: an invited person, for example, would have access to all of them. Throws `forbidden`.
 */
export async function requireEveryEnvironment(
  db: Pick<Drizzle, 'select'>,
  principal: Principal,
): Promise<void> {
  const keyEnvironments = await findKeyEnvironments(db, principal)
  if (keyEnvironments === null || environments.every((environment) => keyEnvironments.includes(environment)))
    return
  const message = `This affects all environments, and the key is valid in ${keyEnvironments.join(', ')} only.`
  throw new ApiError('forbidden', message, {
    details: [{ in: 'header', path: '/Authorization', code: 'environment_not_held', message }],
  })
}
