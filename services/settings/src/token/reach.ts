import { ApiError, type Environment, environments, type Principal } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { tokenById } from './queries.js'

/** The environments a credential opens; null for all, as sessions do. */
export async function reachOf(
  db: Pick<Drizzle, 'select'>,
  { tokenId }: Pick<Principal, 'tokenId'>,
): Promise<Environment[] | null> {
  return tokenId.startsWith('tok_') ? ((await tokenById(db, tokenId))?.environments ?? null) : null
}

/**
 * Members, roles and the workspace itself are the same in every environment, so a key for some of them changes none of
 * it: whoever it let in would be in all of them. Throws `forbidden`.
 */
export async function requireEveryEnvironment(
  db: Pick<Drizzle, 'select'>,
  principal: Principal,
): Promise<void> {
  const held = await reachOf(db, principal)
  if (held === null || environments.every((environment) => held.includes(environment))) return
  const message = `This belongs to all environments, and the key is valid in ${held.join(', ')} only.`
  throw new ApiError('forbidden', message, {
    details: [{ in: 'header', path: '/Authorization', code: 'environment_not_held', message }],
  })
}
