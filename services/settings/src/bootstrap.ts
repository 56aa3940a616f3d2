import {
  ApiError,
  type Bootstrap,
  type Bootstrapped,
  type CommandMeta,
  newId,
  platformTenant,
} from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { account } from './account/domain.js'
import type { Passwords } from './account/passwords.js'
import { accountByEmail } from './account/queries.js'
import { membership } from './membership/domain.js'
import { membershipExists } from './membership/queries.js'
import { workspace } from './workspace/domain.js'
import { homeOf } from './workspace/home.js'
import { workspaceIdBySlug } from './workspace/queries.js'

/**
 * Creates a workspace with its owner, and the owner's login unless there is one with that email; a password it has
 * stays. Repeating it changes nothing. Throws `conflict` when the workspace exists and is somebody else's.
 */
export type RunBootstrap = (wanted: Bootstrap, meta: CommandMeta) => Promise<Bootstrapped>

export function createBootstrap(
  { store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>,
  passwords: Passwords,
): RunBootstrap {
  const accounts = store.aggregate(account)
  const workspaces = store.aggregate(workspace)
  const memberships = store.aggregate(membership)

  const existing = async ({ workspaceSlug, email }: Bootstrap): Promise<Bootstrapped | null> => {
    const workspaceId = await workspaceIdBySlug(db, workspaceSlug)
    if (workspaceId === null) return null
    const owner = await accountByEmail(db, email)
    if (owner && (await membershipExists(db, workspaceId, owner.id))) return { workspaceId, userId: owner.id }
    throw new ApiError('conflict', `The workspace ${workspaceSlug} exists and belongs to somebody else.`)
  }

  const create = async (wanted: Bootstrap, meta: CommandMeta): Promise<Bootstrapped> => {
    const { workspaceSlug, workspaceName, email, password, userName } = wanted
    const { now } = meta
    const known = await accountByEmail(db, email)
    const claimed = known !== null && known.passwordHash !== null
    const passwordHash = claimed ? null : await passwords.hash(password)
    const [workspaceId, userId, membershipId] = [
      newId('workspace'),
      known?.id ?? newId('user'),
      newId('membership'),
    ]
    const tenant = homeOf(workspaceId)
    const owner = { id: membershipId, userId, email, name: claimed ? known.name : userName, role: 'owner' }

    await store.transact({ ...meta, tenant }, async (unit) => {
      const login = { name: userName, passwordHash, now }
      const options = { tenant: platformTenant }
      if (known === null) {
        await unit.create(accounts, userId, { kind: 'create', id: userId, email, ...login }, options)
      } else if (passwordHash !== null) {
        await unit.handle(accounts, userId, { kind: 'claim', ...login, passwordHash }, options)
      }
      const naming = {
        kind: 'create' as const,
        id: workspaceId,
        slug: workspaceSlug,
        name: workspaceName,
        now,
      }
      await unit.create(workspaces, workspaceId, naming)
      await unit.create(memberships, membershipId, { kind: 'activate', ...owner, now })
    })
    return { workspaceId, userId }
  }

  return async (wanted, meta) => {
    const before = await existing(wanted)
    if (before) return before
    try {
      return await create(wanted, meta)
    } catch (error) {
      // Lost against the same call at the same time.
      const winner = error instanceof ApiError && error.code === 'conflict' ? await existing(wanted) : null
      if (winner) return winner
      throw error
    }
  }
}
