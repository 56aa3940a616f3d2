import { ApiError, environments, type Principal } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { tokenById } from '../token/queries.js'

/**
 * Members and roles are the same in every environment, so a key for some of them changes neither: whoever it let in
 * would be in all of them. Throws `forbidden`.
 */
export async function requireEveryEnvironment(tx: Transaction, { tokenId }: Principal): Promise<void> {
  if (!tokenId.startsWith('tok_')) return
  const held = (await tokenById(tx, tokenId))?.environments ?? null
  if (held === null || environments.every((environment) => held.includes(environment))) return
  const message = `Members and roles belong to all environments, and this key is valid in ${held.join(', ')} only.`
  throw new ApiError('forbidden', message, {
    details: [{ in: 'header', path: '/Authorization', code: 'environment_not_held', message }],
  })
}
