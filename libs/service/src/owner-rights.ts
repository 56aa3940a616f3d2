import { type PlatformEvent, Rights } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from './context.js'

/** What people may do, by their ids; whoever is no member is absent. */
export type HeldRights = Rights['permissions']

/** What acts by the rights of its owners. */
export interface Owned {
  /** Who owns something in the workspace that acts by itself, of these people; null: of all. */
  ownersIn(workspaceId: string, users: readonly string[] | null): Promise<readonly string[]>
  /** Ends what acts for these owners and needs what they may no longer do. Called again when it fails. */
  suspend(owners: {
    workspaceId: string
    userIds: readonly string[]
    held: HeldRights
    /** The event that has made it necessary to look. */
    causationId: string
  }): Promise<void>
}

export interface OwnerRightsOptions extends Owned {
  /** The consumers of events of users, and of roles. */
  durables: { users: string; roles: string }
  settings: Pick<ServiceClient, 'post'>
}

/** Several kinds of it in one service. */
export const allOwned = (kinds: readonly Owned[]): Owned => ({
  async ownersIn(workspaceId, users) {
    const owners = await Promise.all(kinds.map((kind) => kind.ownersIn(workspaceId, users)))
    return [...new Set(owners.flat())]
  },
  async suspend(owners) {
    for (const kind of kinds) await kind.suspend(owners)
  },
})

/** What can take rights from somebody. */
const watched = { users: ['user.role_changed', 'user.suspended', 'user.deactivated'], roles: ['role.*'] }
const ownersAtOnce = 200

/** Looks at the rights of owners of what acts by itself as soon as a membership or a role has changed: see ADR 046. */
export function watchOwnerRights(
  { consume }: Pick<ServiceContext, 'consume'>,
  { durables, settings, ownersIn, suspend }: OwnerRightsOptions,
): BackgroundWork[] {
  const perform = async (events: readonly PlatformEvent[]) => {
    for (const { workspaceId, id, users } of concerned(events)) {
      const owners = await ownersIn(workspaceId, users && [...users])
      for (let from = 0; from < owners.length; from += ownersAtOnce) {
        const userIds = owners.slice(from, from + ownersAtOnce)
        const { permissions } = await settings.post('/internal/rights', { workspaceId, userIds }, Rights)
        await suspend({ workspaceId, userIds, held: permissions, causationId: id })
      }
    }
  }
  return [
    consume({ durable: durables.users, types: watched.users, perform }),
    consume({ durable: durables.roles, types: watched.roles, perform }),
  ]
}

/** By workspace: who may have lost rights; null: anybody. */
function concerned(events: readonly PlatformEvent[]) {
  const byWorkspace = new Map<string, { workspaceId: string; id: string; users: Set<string> | null }>()
  for (const { id, type, workspaceId, resource } of events) {
    const entry = byWorkspace.get(workspaceId) ?? { workspaceId, id, users: new Set<string>() }
    byWorkspace.set(workspaceId, entry)
    if (type.startsWith('role.')) entry.users = null
    entry.users?.add(resource.id)
  }
  return byWorkspace.values()
}
