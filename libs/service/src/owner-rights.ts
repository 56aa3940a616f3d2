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

/** The permissions of users, by id; users who are no members are absent. */
export type MemberPermissions = Rights['permissions']

/** Resources that act with their owners' rights. */
export interface Owned {
  /** Which of these people own such resources in the workspace; `users` is `null` for all. */
  ownersIn(workspaceId: string, users: readonly string[] | null): Promise<readonly string[]>
  /** Suspends resources of these owners that need permissions they no longer have. Retried on failure. */
  suspend(owners: {
    workspaceId: string
    userIds: readonly string[]
    permissions: MemberPermissions
    /** Whether row rules hide events of a subscription from its owner. */
    hides(userId: string, environment: Environment, subscription: EventSubscription): boolean
    /** The event that triggered the check. */
    causationId: string
  }): Promise<void>
  /**
   * Resources that act by grants of the person, rather than by their rights alone: they end
   * with the API key the grant was created with.
   */
  carriersOf?(workspaceId: string, userId: string): Promise<readonly Carrier[]>
}

/** A resource that acts by a grant. */
export interface Carrier {
  grant: string
  /** Suspends the resource because the permissions it needs are missing. Retried on failure. */
  suspend(missing: readonly string[], causationId: string): Promise<void>
}

interface OwnerRightsOptions extends Owned {
  /**
   * Durables of the consumers of events of users, of roles, of tables (for resources that subscribe to events), and of
   * API keys (for resources that act by grants).
   */
  durables: { users: string; roles: string; tables?: string; keys?: string }
  settings: Pick<ServiceClient, 'post'>
  /** For resources that subscribe to events. */
  rules?: SubscriptionRules
}

/** Combines several kinds of resources of one service. */
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

/** Checks the rights of owners when a membership, a role or row rules change (ADR 046). */
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

/** Checks resources whose grants were created with API keys that have ended: once per person. */
function endWithKeys(
  settings: Pick<ServiceClient, 'post'>,
  carriersOf: NonNullable<Owned['carriersOf']>,
): (events: readonly PlatformEvent[]) => Promise<void> {
  return async (events) => {
    const givers = new Map(
      events.flatMap(({ id, workspaceId, data }) => {
        const { userId, revocationReason } = KeyEnd.parse(data).after
        // Resources of a removed user are already suspended because of the removal.
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

/** By workspace: users who may have lost rights; `null` for all. */
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
