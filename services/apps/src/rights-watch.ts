import {
  environments,
  type Permission,
  PermissionName,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import {
  allOwned,
  type BackgroundWork,
  type Carrier,
  type MemberPermissions,
  type Owned,
  type ServiceContext,
  watchOwnerRights,
} from '@opsplane/service'
import { z } from 'zod'
import type { Deployments } from './deployment/deployments.js'
import { listLiveByGivers } from './deployment/queries.js'
import type { Embeds } from './embed/embeds.js'

export interface RightsWatchOptions {
  deployments: Pick<Deployments, 'aggregate' | 'grantBy'>
  embeds: Pick<Embeds, 'aggregate'>
  settings: Pick<ServiceClient, 'post'>
}

/** Holds live deployments whose giver lacks a permission they need, and revokes embed tokens whose maker lacks one. */
export const watchRights = (
  ctx: ServiceContext,
  { deployments, embeds, settings }: RightsWatchOptions,
): BackgroundWork[] =>
  watchOwnerRights(ctx, {
    ...{
      durables: { users: 'apps-user-rights', roles: 'apps-role-rights', keys: 'apps-key-rights' },
      settings,
    },
    ...allOwned([ownedDeployments(ctx, deployments), ownedEmbeds(ctx, embeds)]),
  })

type Context = Pick<ServiceContext, 'database' | 'clock'>

function ownedDeployments(
  { database: { sql }, clock }: Context,
  { aggregate, grantBy }: RightsWatchOptions['deployments'],
): Owned {
  const suspend = (
    { id, giver }: { id: string; giver: string },
    tenant: TenantScope,
    missing: readonly string[],
    causationId: string,
  ) => {
    const now = clock.now()
    const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
    return aggregate.handle(id, { kind: 'suspend', giverId: giver, missing, now }, meta)
  }
  return {
    ownersIn: async (workspaceId, users) =>
      (await listLiveByGivers(sql, workspaceId, users)).map(({ giver }) => giver),
    async suspend({ workspaceId, userIds, permissions: held, causationId }) {
      for (const live of await listLiveByGivers(sql, workspaceId, userIds)) {
        const missing = missingOf(held[live.giver], live.permissions)
        const tenant = { workspaceId, environment: live.environment }
        if (missing.length > 0) await suspend(live, tenant, missing, causationId)
      }
    },
    async carriersOf(workspaceId, userId) {
      const carriers: Carrier[] = []
      for (const live of await listLiveByGivers(sql, workspaceId, [userId])) {
        const tenant = { workspaceId, environment: live.environment }
        const found = await aggregate.find(live.id, tenant)
        const grant = found && (await grantBy(found.state, tenant))
        if (!grant) continue
        carriers.push({
          grant,
          async suspend(missing, causationId) {
            await suspend(live, tenant, missing, causationId)
          },
        })
      }
      return carriers
    },
  }
}

const ownedEmbeds = ({ database, clock }: Context, { aggregate }: RightsWatchOptions['embeds']): Owned => ({
  ownersIn: async (workspaceId, users) =>
    (await tokensOfMakers(database, workspaceId, users, clock.now())).map(({ maker }) => maker),
  async suspend({ workspaceId, userIds, permissions: held, causationId }) {
    const now = clock.now()
    for (const { id, environment, maker, permissions } of await tokensOfMakers(
      database,
      workspaceId,
      userIds,
      now,
    )) {
      if (missingOf(held[maker], permissions).length === 0) continue
      const tenant = { workspaceId, environment }
      const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
      await aggregate.handle(id, { kind: 'revoke', now }, meta)
    }
  },
})

/** The permissions that are not held; `membership` if the person is no longer a member. */
const missingOf = (
  heldPermissions: MemberPermissions[string] | undefined,
  permissions: readonly Permission[],
): string[] =>
  heldPermissions ? permissions.filter((each) => !heldPermissions.includes(each)) : ['membership']

const Made = z.object({
  id: z.string(),
  environment: z.enum(environments),
  maker: z.string(),
  permissions: z.array(PermissionName),
})

/**
 * Embed tokens that have not ended, of these makers or of all (`null`), with the permissions of the live deployment
 * of their app.
 */
async function tokensOfMakers(
  { sql }: Pick<Database, 'sql'>,
  workspaceId: string,
  makers: readonly string[] | null,
  now: string,
) {
  const rows = await sql.unsafe(
    `select t.id, t.environment, t.state->>'createdBy' as maker, live.permissions
     from embed_tokens t cross join lateral (
       select d.state->'permissions' as permissions from deployments d
       where d.workspace_id = t.workspace_id and d.environment = t.environment and d.app_id = t.app_id
         and d.status = 'completed' order by d.number desc limit 1) live
     where t.workspace_id = $1 and t.expires_at > $2 and t.state->>'revokedAt' is null
       and ($3::text[] is null or t.state->>'createdBy' = any($3::text[])) order by t.id`,
    [workspaceId, now, makers && [...makers]],
    { prepare: true },
  )
  return z.array(Made).parse([...rows])
}
