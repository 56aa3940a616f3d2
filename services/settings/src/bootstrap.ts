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
 * Creates a workspace with its owner, and the owner's login. Repeating it changes nothing. Throws `conflict` when the
 * workspace exists and has another owner, and when there is a login with that e-mail, unless it
 * is to be kept with the password it has.
 */
export type RunBootstrap = (wanted: Bootstrap, meta: CommandMeta) => Promise<Bootstrapped>

export function createBootstrap(
  { store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>,
  passwords: Passwords,
): RunBootstrap {
  const accounts = store.aggregate(account)
  const workspaces = store.aggregate(workspace)
  const memberships = store.aggregate(membership)

  /** The password is the one that the operator of the installation has chosen. */
  const mark = (accountId: string, createdAt: string) =>
    db.insert(bootstrappedAccounts).values({ accountId, createdAt }).onConflictDoNothing()

  /** Of a login that was made before there were marks, or whose mark a crash has kept out. */
  const markByPassword = async ({ id, passwordHash }: AccountState, password: string, now: string) => {
    const where = eq(bootstrappedAccounts.accountId, id)
    const [marked] = await db.select().from(bootstrappedAccounts).where(where)
    if (!marked && (await passwords.matches(password, passwordHash))) await mark(id, now)
  }

  const existing = async (wanted: Bootstrap, now: string): Promise<Bootstrapped | null> => {
    const { workspaceSlug, email, password } = wanted
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

  const create = async (wanted: Bootstrap, meta: CommandMeta): Promise<Bootstrapped> => {
    const { workspaceSlug, workspaceName, email, password, userName } = wanted
    const { now } = meta
    const known = await accountByEmail(db, email)
    if (known !== null && wanted.existingLogin === 'refuse') throw loginExists(email)
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

  return async (wanted, meta) => {
    const before = await existing(wanted, meta.now)
    if (before) return before
    try {
      return await create(wanted, meta)
    } catch (error) {
      // Lost against the same call at the same time.
      const winner =
        error instanceof ApiError && error.code === 'conflict' ? await existing(wanted, meta.now) : null
      if (winner) return winner
      throw error
    }
  }
}

/** It may have been claimed by another person, who would then be the owner. */
function loginExists(email: string): ApiError {
  const message =
    `A login with the e-mail ${email} already exists and may belong to another person. If it is the owner's, send ` +
    '"existingLogin": "keep": it keeps its password.'
  return new ApiError('conflict', message, {
    details: [{ in: 'body', path: '/email', code: 'login_exists', message }],
  })
}
