import { ApiError, environments, type Principal } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { tokenById } from '../token/queries.js'

/**
 * Members, roles and the workspace itself are the same in every environment, so a key for some of them changes none of
 * it: whoever it let in would be in all of them. Throws `forbidden`.
 */
export async function requireEveryEnvironment(
  db: Pick<Drizzle, 'select'>,
  { tokenId }: Principal,
): Promise<void> {
  if (!tokenId.startsWith('tok_')) return
  const held = (await tokenById(db, tokenId))?.environments ?? null
  if (held === null || environments.every((environment) => held.includes(environment))) return
  const message = `This belongs to all environments, and the key is valid in ${held.join(', ')} only.`
  throw new ApiError('forbidden', message, {
    details: [{ in: 'header', path: '/Authorization', code: 'environment_not_held', message }],
  })
}
