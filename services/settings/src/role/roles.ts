import { ApiError, type NewRole, newId, type Role, type RolePatch } from '@opsplane/contracts'
import type { Serialized } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { requireAuthority } from '../rights/authority.js'
import { isBuiltIn } from '../rights/permissions.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { requireEveryEnvironment } from '../token/key-environments.js'
import { role } from './domain.js'
import { countMembersByRole, customRoles } from './queries.js'
import { requireExistingRole, toRole } from './role-reader.js'

/** Keeps the list short enough to be returned whole. */
export const maxCustomRoles = 100

export type Roles = ReturnType<typeof createRoles>

/** The custom roles of a workspace. Changes are serialized. */
export function createRoles({ store }: Pick<ServiceContext, 'store'>, serialized: Serialized) {
  const roles = store.aggregate(role)

  return {
    create: (newRole: NewRole, meta: RequestMeta): Promise<Role> =>
      serialized(atHome(meta), async (unit, tx) => {
        await requireEveryEnvironment(tx, meta.principal)
        refuseBuiltIn(newRole.name)
        requireAuthority(meta.principal.permissions, newRole.permissions)
        if ((await customRoles(tx, meta.tenant.workspaceId)).length >= maxCustomRoles) throw tooMany()
        const id = newId('role')
        return toRole(await unit.create(roles, id, { kind: 'create', id, fields: newRole, now: meta.now }), 0)
      }),

    /** The caller must have all permissions of the role, before and after the change. */
    update: (name: string, patch: RolePatch, meta: RequestMeta): Promise<Role> =>
      serialized(atHome(meta), async (unit, tx) => {
        await requireEveryEnvironment(tx, meta.principal)
        refuseBuiltIn(name)
        const { workspaceId } = meta.tenant
        const { state } = await requireExistingRole(tx, workspaceId, name)
        requireAuthority(meta.principal.permissions, [...state.permissions, ...(patch.permissions ?? [])])
        const members = (await countMembersByRole(tx, workspaceId)).get(name) ?? 0
        return toRole(await unit.handle(roles, state.id, { kind: 'update', patch, now: meta.now }), members)
      }),

    delete: (name: string, meta: RequestMeta): Promise<void> =>
      serialized(atHome(meta), async (unit, tx) => {
        await requireEveryEnvironment(tx, meta.principal)
        refuseBuiltIn(name)
        const { workspaceId } = meta.tenant
        const { state } = await requireExistingRole(tx, workspaceId, name)
        requireAuthority(meta.principal.permissions, state.permissions)
        const members = (await countMembersByRole(tx, workspaceId)).get(name) ?? 0
        await unit.handle(roles, state.id, { kind: 'delete', members })
      }),
  }
}

function refuseBuiltIn(name: string): void {
  if (!isBuiltIn(name)) return
  const message = `${name} is a built-in role, which cannot be changed.`
  throw new ApiError('conflict', message, {
    details: [{ in: 'body', path: '/name', code: 'built_in_role', message }],
  })
}

function tooMany(): ApiError {
  return new ApiError('conflict', `A workspace can have at most ${maxCustomRoles} custom roles.`)
}

function atHome(meta: RequestMeta): RequestMeta {
  return { ...meta, tenant: workspaceScope(meta.tenant.workspaceId) }
}
