import {
  type Environment,
  type EventSubscription,
  endedKey,
  GrantValidity,
  maxGrantsPerQuery,
  type PlatformEvent,
  Rights,
  rulesAgainst,
  TokenState,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { z } from 'zod'
import type { BackgroundWork, ServiceContext } from './context.js'
import type { SubscriptionRules } from './read-rules.js'

/** The permissions of users, by their ids; those who are no members are absent. */
export type MemberPermissions = Rights['permissions']

/** What acts by the rights of its owners. */
export interface Owned {
  /** Who owns something in the workspace that acts by itself, of these people; null: of all. */
  ownersIn(workspaceId: string, users: readonly string[] | null): Promise<readonly string[]>
  /** Ends what acts for these owners and needs what they may no longer do. Called again when it fails. */
  suspend(owners: {
    workspaceId: string
    userIds: readonly string[]
    permissions: MemberPermissions
    /** Whether row rules hide from an owner what they are subscribed to. */
    hides(userId: string, environment: Environment, subscription: EventSubscription): boolean
    /** The event that has made it necessary to look. */
    causationId: string
  }): Promise<void>
  /** What acts by grants of the person, and not by their rights alone: it ends with the API key a grant was given by. */
  carriersOf?(workspaceId: string, userId: string): Promise<readonly Carrier[]>
}

/** Something that acts by a grant. */
export interface Carrier {
  grant: string
  /** Suspends what acts by the grant, as the permissions it needs are gone. Called again when it fails. */
  suspend(missing: readonly string[], causationId: string): Promise<void>
}

interface OwnerRightsOptions extends Owned {
  /**
   * The consumers of events of users, of roles, of tables where it is subscribed to events, and of API keys where it acts by
   * grants.
   */
  durables: { users: string; roles: string; tables?: string; keys?: string }
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
  async carriersOf(workspaceId, userId) {
    return (await Promise.all(kinds.map((kind) => kind.carriersOf?.(workspaceId, userId) ?? []))).flat()
  },
})

/** Events that can remove rights from a user. */
const watched = {
  users: ['user.role_changed', 'user.suspended', 'user.deactivated'],
  roles: ['role.*'],
  keys: ['token.revoked', 'token.reuse_detected'],
  tables: ['table.*'],
}
const ownersAtOnce = 200

/** Looks at the rights of owners of what acts by itself as soon as a membership, a role or row rules have changed: see ADR 046. */
export function watchOwnerRights(
  { consume }: Pick<ServiceContext, 'consume'>,
  { durables, settings, rules, ownersIn, suspend, carriersOf }: OwnerRightsOptions,
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
          ...{ workspaceId, userIds, permissions: permissions, causationId: id },
          hides: (userId, environment, subscription) =>
            rulesAgainst(readRules, { role: roles[userId] }, environment, subscription).length > 0,
        })
      }
    }
  }
  return [
    consume({ durable: durables.users, types: watched.users, perform }),
    consume({ durable: durables.roles, types: watched.roles, perform }),
    ...(durables.keys !== undefined && carriersOf
      ? [consume({ durable: durables.keys, types: watched.keys, perform: endWithKeys(settings, carriersOf) })]
      : []),
    ...(durables.tables === undefined
      ? []
      : [consume({ durable: durables.tables, types: watched.tables, perform })]),
  ]
}

/** Looks at what was given by API keys that have ended: each person once. */
function endWithKeys(
  settings: Pick<ServiceClient, 'post'>,
  carriersOf: NonNullable<Owned['carriersOf']>,
): (events: readonly PlatformEvent[]) => Promise<void> {
  return async (events) => {
    const givers = new Map(
      events.flatMap(({ id, workspaceId, data }) => {
        const { userId, revocationReason } = KeyEnd.parse(data).after
        // What the removed person has given is held for that.
        if (revocationReason === 'user_removed') return []
        return [[`${workspaceId}/${userId}`, { id, workspaceId, userId }] as const]
      }),
    )
    for (const { id, workspaceId, userId } of givers.values()) {
      const carriers = await carriersOf(workspaceId, userId)
      for (let from = 0; from < carriers.length; from += maxGrantsPerQuery) {
        const some = carriers.slice(from, from + maxGrantsPerQuery)
        const question = { grants: some.map(({ grant }) => grant) }
        const { holding } = await settings.post('/internal/grants/holding', question, GrantValidity)
        for (const [at, { suspend }] of some.entries())
          if (holding[at] === false) await suspend([endedKey], id)
      }
    }
  }
}

const KeyEnd = z.object({ after: TokenState.pick({ userId: true, revocationReason: true }) })

/** By workspace: users who may have lost rights; null: all. */
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
