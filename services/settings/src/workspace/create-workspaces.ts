import {
  ApiError,
  idPrefixes,
  type NewWorkspace,
  newId,
  notFound,
  type Principal,
  platformTenant,
  type WorkspaceAccess,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { createLimits, quotaExceeded } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { account } from '../account/domain.js'
import type { SettingsConfig } from '../config.js'
import { membership } from '../membership/domain.js'
import { countOwnedWorkspaces, workspaceIdBySlug } from '../tenant/queries.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { keyRecord } from '../token/queries.js'
import { workspace } from './domain.js'

const ownerRole = 'owner'
const permission = 'workspace:write'
const isKey = (tokenId: string) => tokenId.startsWith(`${idPrefixes.token}_`)

/**
 * Creates a workspace owned by the caller. An API key needs `workspace:write` in every environment, and gets no
 * access to the new workspace. Throws `insufficient_scope`, `quota_exceeded`, or `conflict` if the slug is taken.
 */
export function createWorkspaces({ store, database: { db }, config }: ServiceContext<SettingsConfig>) {
  const accounts = store.aggregate(account)
  const workspaces = store.aggregate(workspace)
  const memberships = store.aggregate(membership)
  const maxWorkspaces = createLimits(config).of('workspaces', '')

  const checkMayCreate = async ({ userId, tokenId }: Principal) => {
    const record = isKey(tokenId) ? await keyRecord(db, tokenId) : undefined
    const hasPermission = record?.allowed?.includes(permission) && record.key.scopes.includes(permission)
    const whole = hasPermission && record?.key.environments === null
    if (isKey(tokenId) && !whole) throw narrowKey()
    if (maxWorkspaces > 0 && (await countOwnedWorkspaces(db, userId)) >= maxWorkspaces)
      throw quotaExceeded('workspaces', maxWorkspaces)
  }

  return async ({ slug, name = slug }: NewWorkspace, meta: RequestMeta): Promise<WorkspaceAccess> => {
    const { now, principal } = meta
    await checkMayCreate(principal)
    const owner = await accounts.find(principal.userId, platformTenant)
    if (owner === null) throw notFound()
    if ((await workspaceIdBySlug(db, slug)) !== null) throw slugInUse(slug)
    const [id, membershipId] = [newId('workspace'), newId('membership')]
    const { email, addressProvenAt } = owner.state
    const member = {
      ...{ id: membershipId, userId: principal.userId, email, name: owner.state.name },
      ...{ addressProven: addressProvenAt !== null, role: ownerRole },
    }
    try {
      return await store.transact({ ...meta, tenant: workspaceScope(id) }, async (unit) => {
        const created = await unit.create(workspaces, id, { kind: 'create', id, slug, name, now })
        await unit.create(memberships, membershipId, { kind: 'activate', ...member, now })
        return { ...created, role: ownerRole }
      })
    } catch (error) {
      // Lost a race against another creation with the same slug.
      const isConflict = error instanceof ApiError && error.code === 'conflict'
      throw isConflict ? slugInUse(slug, error) : error
    }
  }
}

function narrowKey(): ApiError {
  const message = 'Creating a workspace with an API key needs workspace:write in every environment.'
  return new ApiError('insufficient_scope', message, {
    details: [{ in: 'header', path: '/authorization', code: 'scope_not_held', message }],
  })
}

function slugInUse(slug: string, cause?: unknown): ApiError {
  const message = `There is a workspace ${slug} already.`
  return new ApiError('conflict', message, {
    details: [{ in: 'body', path: '/slug', code: 'slug_taken', message }],
    cause,
  })
}
