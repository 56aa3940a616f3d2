import {
  ApiError,
  builtInRoles,
  type NewRole,
  newId,
  notFound,
  type Page,
  type Permission,
  type Role,
  type RolePatch,
  type RoleState,
} from '@opsplane/contracts'
import type { TakeTurn } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { requireAuthority } from '../membership/authority.js'
import { requireEveryEnvironment } from '../membership/reach.js'
import { homeOf } from '../workspace/home.js'
import { role } from './domain.js'
import { isBuiltIn, permissionsOf } from './permissions.js'
import { customRole, customRoles, membersByRole, type Reader, type StoredRole } from './queries.js'

/** Keeps the list short enough to be read whole. */
export const mostCustomRoles = 100

export type Roles = ReturnType<typeof createRoles>

/** The roles of a workspace: the built-in ones, and its own, which are changed one request after the other. */
export function createRoles(
  { store, database: { db }, cursors }: Pick<ServiceContext, 'store' | 'database' | 'cursors'>,
  takeTurn: TakeTurn,
) {
  const roles = store.aggregate(role)

  return {
    /** Built-in ones first, then custom ones by name. Throws `invalid_cursor`. */
    async list(
      workspaceId: string,
      page: { limit: number; after?: string; binding: string },
    ): Promise<Page<Role>> {
      const [custom, members] = await Promise.all([
        customRoles(db, workspaceId),
        membersByRole(db, workspaceId),
      ])
      const all = [...Object.keys(builtInRoles).map(builtIn), ...custom.map(shownCustom)]
      const binding = `${workspaceId}|${page.binding}`
      const after = page.after === undefined ? '' : Place.parse(cursors.decode(page.after, binding))[0]
      const rest = all.filter((entry) => placeOf(entry) > after)
      const items = rest.slice(0, page.limit).map((entry) => counted(entry, members))
      const last = rest.length > page.limit ? items.at(-1) : undefined
      const nextCursor = last === undefined ? null : cursors.encode([placeOf(last)], binding)
      return { items, nextCursor, limit: page.limit }
    },

    async get(workspaceId: string, name: string): Promise<Role> {
      const members = await membersByRole(db, workspaceId)
      if (isBuiltIn(name)) return counted(builtIn(name), members)
      return counted(shownCustom(await existing(db, workspaceId, name)), members)
    },

    create: (wanted: NewRole, meta: RequestMeta): Promise<Role> =>
      takeTurn(atHome(meta), async (unit, tx) => {
        await requireEveryEnvironment(tx, meta.principal)
        refuseBuiltIn(wanted.name)
        requireAuthority(meta.principal.permissions, wanted.permissions)
        if ((await customRoles(tx, meta.tenant.workspaceId)).length >= mostCustomRoles) throw tooMany()
        const id = newId('role')
        return shown(await unit.create(roles, id, { kind: 'create', id, ...wanted, now: meta.now }), 0)
      }),

    /** Whoever changes a role must hold all it allows, before and after. */
    update: (name: string, patch: RolePatch, meta: RequestMeta): Promise<Role> =>
      takeTurn(atHome(meta), async (unit, tx) => {
        await requireEveryEnvironment(tx, meta.principal)
        refuseBuiltIn(name)
        const { workspaceId } = meta.tenant
        const { state } = await existing(tx, workspaceId, name)
        requireAuthority(meta.principal.permissions, [...state.permissions, ...(patch.permissions ?? [])])
        const members = (await membersByRole(tx, workspaceId)).get(name) ?? 0
        return shown(await unit.handle(roles, state.id, { kind: 'update', patch, now: meta.now }), members)
      }),

    delete: (name: string, meta: RequestMeta): Promise<void> =>
      takeTurn(atHome(meta), async (unit, tx) => {
        await requireEveryEnvironment(tx, meta.principal)
        refuseBuiltIn(name)
        const { workspaceId } = meta.tenant
        const { state } = await existing(tx, workspaceId, name)
        requireAuthority(meta.principal.permissions, state.permissions)
        const members = (await membersByRole(tx, workspaceId)).get(name) ?? 0
        await unit.handle(roles, state.id, { kind: 'delete', members })
      }),
  }
}

/** What the role allows in this workspace; null when there is none of that name. */
export async function grantedBy(db: Reader, workspaceId: string, name: string): Promise<Permission[] | null> {
  if (isBuiltIn(name)) return permissionsOf(name, null)
  const found = await customRole(db, workspaceId, name)
  return found && permissionsOf(name, found.state.permissions)
}

async function existing(db: Reader, workspaceId: string, name: string): Promise<StoredRole> {
  const found = await customRole(db, workspaceId, name)
  if (found === null) throw notFound()
  return found
}

const Place = z.tuple([z.string()])
const builtInNames = Object.keys(builtInRoles)

/** Sorts built-in roles, in the order of their table, before custom ones. */
function placeOf({ name, builtIn }: Role): string {
  return builtIn ? `0${builtInNames.indexOf(name)}` : `1${name}`
}

function builtIn(name: string): Role {
  const { description = '' } = builtInRoles[name] ?? {}
  const unversioned = { id: null, createdAt: null, updatedAt: null, version: null }
  return {
    ...unversioned,
    name,
    description,
    permissions: permissionsOf(name, null),
    builtIn: true,
    members: 0,
  }
}

const shownCustom = ({ state, version }: StoredRole): Role => shown({ ...state, version }, 0)

function shown(state: RoleState & { version: number }, members: number): Role {
  return { ...state, permissions: permissionsOf(state.name, state.permissions), builtIn: false, members }
}

const counted = (entry: Role, members: Map<string, number>): Role => ({
  ...entry,
  members: members.get(entry.name) ?? 0,
})

function refuseBuiltIn(name: string): void {
  if (!isBuiltIn(name)) return
  const message = `${name} is a built-in role: the same in every workspace, and never changed.`
  throw new ApiError('conflict', message, {
    details: [{ in: 'body', path: '/name', code: 'built_in_role', message }],
  })
}

function tooMany(): ApiError {
  return new ApiError('conflict', `A workspace has at most ${mostCustomRoles} roles of its own.`)
}

function atHome(meta: RequestMeta): RequestMeta {
  return { ...meta, tenant: homeOf(meta.tenant.workspaceId) }
}
