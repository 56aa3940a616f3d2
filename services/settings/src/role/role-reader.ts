import {
  builtInRoles,
  notFound,
  type Page,
  type Permission,
  type Role,
  type RoleState,
} from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { isBuiltIn, resolvePermissions } from '../rights/permissions.js'
import { countMembersByRole, customRole, customRoles, type Reader, type StoredRole } from './queries.js'

/** Reads the built-in and custom roles of a workspace. */
export function createRoleReader({
  database: { db },
  cursors,
}: Pick<ServiceContext, 'database' | 'cursors'>) {
  return {
    /** Lists built-in roles first, then custom ones by name. Throws `invalid_cursor`. */
    async list(
      workspaceId: string,
      page: { limit: number; after?: string; binding: string },
    ): Promise<Page<Role>> {
      const [custom, members] = await Promise.all([
        customRoles(db, workspaceId),
        countMembersByRole(db, workspaceId),
      ])
      const all = [
        ...builtInNames.map(builtIn),
        ...custom.map(({ state, version }) => toRole({ ...state, version }, 0)),
      ]
      const binding = `${workspaceId}|${page.binding}`
      const after = page.after === undefined ? '' : Place.parse(cursors.decode(page.after, binding))[0]
      const rest = all.filter((entry) => buildSortKey(entry) > after)
      const items = rest.slice(0, page.limit).map((entry) => withMemberCount(entry, members))
      const last = rest.length > page.limit ? items.at(-1) : undefined
      const nextCursor = last === undefined ? null : cursors.encode([buildSortKey(last)], binding)
      return { items, nextCursor, limit: page.limit }
    },

    /** Throws `not_found`. */
    async get(workspaceId: string, name: string): Promise<Role> {
      const members = await countMembersByRole(db, workspaceId)
      if (isBuiltIn(name)) return withMemberCount(builtIn(name), members)
      const { state, version } = await requireExistingRole(db, workspaceId, name)
      return withMemberCount(toRole({ ...state, version }, 0), members)
    },
  }
}
export type RoleReader = ReturnType<typeof createRoleReader>

/** The permissions of the role in this workspace; `null` if the role does not exist. */
export async function findRolePermissions(
  db: Reader,
  workspaceId: string,
  name: string,
): Promise<Permission[] | null> {
  if (isBuiltIn(name)) return resolvePermissions(name, null)
  const found = await customRole(db, workspaceId, name)
  return found && resolvePermissions(name, found.state.permissions)
}

/** Throws `not_found`. */
export async function requireExistingRole(
  db: Reader,
  workspaceId: string,
  name: string,
): Promise<StoredRole> {
  const found = await customRole(db, workspaceId, name)
  if (found === null) throw notFound()
  return found
}

/** A custom role as the API shows it. */
export function toRole(state: RoleState & { version: number }, members: number): Role {
  return { ...state, permissions: resolvePermissions(state.name, state.permissions), builtIn: false, members }
}

const Place = z.tuple([z.string()])
const builtInNames = Object.keys(builtInRoles)

/** Sorts built-in roles, in the order of their table, before custom ones. */
function buildSortKey({ name, builtIn }: Role): string {
  return builtIn ? `0${builtInNames.indexOf(name)}` : `1${name}`
}

function builtIn(name: string): Role {
  const { description = '' } = builtInRoles[name] ?? {}
  const unversioned = { id: null, createdAt: null, updatedAt: null, version: null }
  return {
    ...unversioned,
    name,
    description,
    permissions: resolvePermissions(name, null),
    builtIn: true,
    members: 0,
  }
}

const withMemberCount = (entry: Role, members: Map<string, number>): Role => ({
  ...entry,
  members: members.get(entry.name) ?? 0,
})
