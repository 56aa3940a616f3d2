import {
  type Environment,
  type EventSubscription,
  type PlatformEvent,
  Rights,
  rulesAgainst,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from './context.js'
import type { SubscriptionRules } from './read-rules.js'

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
    /** Whether row rules hide from an owner what they are subscribed to. */
    hides(userId: string, environment: Environment, subscription: EventSubscription): boolean
    /** The event that has made it necessary to look. */
    causationId: string
  }): Promise<void>
}

export interface OwnerRightsOptions extends Owned {
  /** The consumers of events of users, of roles and, of what is subscribed to events, of tables. */
  durables: { users: string; roles: string; tables?: string }
  settings: Pick<ServiceClient, 'post'>
  /** For what is subscribed to events. */
  rules?: SubscriptionRules
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
const watched = {
  users: ['user.role_changed', 'user.suspended', 'user.deactivated'],
  roles: ['role.*'],
  tables: ['table.*'],
}
const ownersAtOnce = 200

/** Looks at the rights of owners of what acts by itself as soon as a membership, a role or row rules have changed: see ADR 046. */
export function watchOwnerRights(
  { consume }: Pick<ServiceContext, 'consume'>,
  { durables, settings, rules, ownersIn, suspend }: OwnerRightsOptions,
): BackgroundWork[] {
  const perform = async (events: readonly PlatformEvent[]) => {
    for (const { workspaceId, id, users } of concerned(events)) {
      const owners = await ownersIn(workspaceId, users && [...users])
      for (let from = 0; from < owners.length; from += ownersAtOnce) {
        const userIds = owners.slice(from, from + ownersAtOnce)
        const [{ permissions, roles }, readRules = []] = await Promise.all([
          settings.post('/internal/rights', { workspaceId, userIds }, Rights),
          rules?.of(workspaceId),
        ])
        await suspend({
          ...{ workspaceId, userIds, held: permissions, causationId: id },
          hides: (userId, environment, subscription) =>
            rulesAgainst(readRules, { role: roles[userId] }, environment, subscription).length > 0,
        })
      }
    }
  }
  return [
    consume({ durable: durables.users, types: watched.users, perform }),
    consume({ durable: durables.roles, types: watched.roles, perform }),
    ...(durables.tables === undefined
      ? []
      : [consume({ durable: durables.tables, types: watched.tables, perform })]),
  ]
}

/** By workspace: who may have lost rights; null: anybody. */
function concerned(events: readonly PlatformEvent[]) {
  const byWorkspace = new Map<string, { workspaceId: string; id: string; users: Set<string> | null }>()
  for (const { id, type, workspaceId, resource } of events) {
    const entry = byWorkspace.get(workspaceId) ?? { workspaceId, id, users: new Set<string>() }
    byWorkspace.set(workspaceId, entry)
    if (!type.startsWith('user.')) entry.users = null
    entry.users?.add(resource.id)
  }
  return byWorkspace.values()
}
