import {
  ApiError,
  type Bootstrap,
  type Bootstrapped,
  type CommandMeta,
  newId,
  platformTenant,
} from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { type AccountState, account } from './account/domain.js'
import type { Passwords } from './account/passwords.js'
import { accountByEmail } from './account/queries.js'
import { membership } from './membership/domain.js'
import { findMember } from './membership/queries.js'
import { bootstrappedAccounts } from './schema.js'
import { workspaceIdBySlug } from './tenant/queries.js'
import { workspaceScope } from './tenant/workspace-scope.js'
import { workspace } from './workspace/domain.js'

/**
 * Creates a workspace with its owner and the owner's login. Repeating it changes nothing. Throws `conflict` if the
 * workspace exists with another owner, or if a login with the e-mail exists, unless the request keeps that login with
 * its password.
 */
export type RunBootstrap = (input: Bootstrap, meta: CommandMeta) => Promise<Bootstrapped>

export function createBootstrap(
  { store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>,
  passwords: Passwords,
): RunBootstrap {
  const accounts = store.aggregate(account)
  const workspaces = store.aggregate(workspace)
  const memberships = store.aggregate(membership)

  /** Marks a login whose password was chosen by the operator of the installation. */
  const mark = (accountId: string, createdAt: string) =>
    db.insert(bootstrappedAccounts).values({ accountId, createdAt }).onConflictDoNothing()

  /** Adds a missing mark: to a login created before marks existed, or whose mark was lost in a crash. */
  const markByPassword = async ({ id, passwordHash }: AccountState, password: string, now: string) => {
    const where = eq(bootstrappedAccounts.accountId, id)
    const [marked] = await db.select().from(bootstrappedAccounts).where(where)
    if (!marked && (await passwords.matches(password, passwordHash))) await mark(id, now)
  }

  const existing = async (input: Bootstrap, now: string): Promise<Bootstrapped | null> => {
    const { workspaceSlug, email, password } = input
    const workspaceId = await workspaceIdBySlug(db, workspaceSlug)
    if (workspaceId === null) return null
    const owner = await accountByEmail(db, email)
    const member = owner && (await findMember(db, workspaceId, owner.id))
    if (owner && member?.state.role === 'owner' && member.state.status === 'active') {
      await markByPassword(owner, password, now)
      return { workspaceId, userId: owner.id }
    }
    throw new ApiError('conflict', `The workspace ${workspaceSlug} exists and has another owner.`)
  }

  const create = async (input: Bootstrap, meta: CommandMeta): Promise<Bootstrapped> => {
    const { workspaceSlug, workspaceName, email, password, userName } = input
    const { now } = meta
    const known = await accountByEmail(db, email)
    if (known !== null && input.existingLogin === 'refuse') throw loginExists(email)
    const claimed = known !== null && known.passwordHash !== null
    const passwordHash = claimed ? null : await passwords.hash(password)
    const [workspaceId, userId, membershipId] = [
      newId('workspace'),
      known?.id ?? newId('user'),
      newId('membership'),
    ]
    const tenant = workspaceScope(workspaceId)
    const addressProven = known !== null && known.addressProvenAt !== null
    const name = claimed ? known.name : userName
    const owner = { id: membershipId, userId, email, name, addressProven, role: 'owner' }

    await store.transact({ ...meta, tenant }, async (unit) => {
      const login = { name: userName, passwordHash, now }
      const options = { tenant: platformTenant }
      if (known === null) {
        await unit.create(accounts, userId, { kind: 'create', id: userId, email, ...login }, options)
      } else if (passwordHash !== null) {
        await unit.handle(
          accounts,
          userId,
          { kind: 'claim', ...login, passwordHash, addressProven: false },
          options,
        )
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
    if (passwordHash !== null) await mark(userId, now)
    return { workspaceId, userId }
  }

  return async (input, meta) => {
    const before = await existing(input, meta.now)
    if (before) return before
    try {
      return await create(input, meta)
    } catch (error) {
      // Lost a race against the same call.
      const winner =
        error instanceof ApiError && error.code === 'conflict' ? await existing(input, meta.now) : null
      if (winner) return winner
      throw error
    }
  }
}

/** The existing login may belong to another person, who would then become the owner. */
function loginExists(email: string): ApiError {
  const message =
    `A login with the e-mail ${email} already exists and may belong to another person. If it is the owner's, send ` +
    '"existingLogin": "keep": it keeps its password.'
  return new ApiError('conflict', message, {
    details: [{ in: 'body', path: '/email', code: 'login_exists', message }],
  })
}
