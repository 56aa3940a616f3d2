import { Environment, missingRights, systemActor, type TenantScope } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import {
  type BackgroundWork,
  type Carrier,
  type ServiceContext,
  type SubscriptionRules,
  watchOwnerRights,
} from '@opsplane/service'
import { z } from 'zod'
import { type ComputeNeeds, findSubscriptions } from './check/needs.js'
import { versionRef } from './versions.js'
import type { Workflows } from './workflows.js'

/** Suspends workflows whose owner has lost permissions they need. */
export function watchRights(
  ctx: ServiceContext,
  { aggregate, versions, givers }: Pick<Workflows, 'aggregate' | 'versions' | 'givers'>,
  {
    needsOf,
    ...neighbours
  }: { settings: Pick<ServiceClient, 'post'>; rules: SubscriptionRules; needsOf: ComputeNeeds },
): BackgroundWork[] {
  const { database, clock } = ctx
  const suspend = (
    { id, ownerId, number }: z.output<typeof Published>,
    tenant: TenantScope,
    missing: readonly string[],
    causationId: string,
  ) => {
    const now = clock.now()
    const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
    return aggregate.handle(id, { kind: 'suspend', now, number, ownerId, missing }, meta)
  }
  return watchOwnerRights(ctx, {
    durables: {
      users: 'workflows-user-rights',
      roles: 'workflows-role-rights',
      keys: 'workflows-key-rights',
      tables: 'workflows-row-rules',
    },
    ...neighbours,
    ownersIn: (workspaceId, users) => ownersIn(database, workspaceId, users),
    async suspend({ workspaceId, userIds, permissions: held, hides, causationId }) {
      for (const published of await findPublished(database, workspaceId, userIds)) {
        const { id, environment, ownerId, number } = published
        const tenant = { workspaceId, environment }
        const { definition } = await versions.load(versionRef(id, number), tenant)
        const owned = held[ownerId]
        const hidden = findSubscriptions(definition).some((each) => hides(ownerId, environment, each))
        const needs = await needsOf(definition, tenant)
        const missing = owned ? missingRights(owned, needs, hidden) : ['membership']
        if (missing.length > 0) await suspend(published, tenant, missing, causationId)
      }
    },
    async carriersOf(workspaceId, userId) {
      const carriers: Carrier[] = []
      for (const published of await findPublished(database, workspaceId, [userId])) {
        const { id, environment, ownerId, number } = published
        const tenant = { workspaceId, environment }
        const giver = await givers.of({ versionId: versionRef(id, number) }, tenant)
        if (giver?.userId !== ownerId) continue
        carriers.push({
          grant: giver.grant,
          async suspend(missing, causationId) {
            await suspend(published, tenant, missing, causationId)
          },
        })
      }
      return carriers
    },
  })
}

const Owner = z.object({ owner: z.string() })

/** Owners of workflows in the workspace that can be run. */
async function ownersIn(
  { sql }: Database,
  workspaceId: string,
  users: readonly string[] | null,
): Promise<string[]> {
  const rows = await sql.unsafe(
    `select distinct owner_id as owner from workflows
     where workspace_id = $1 and status <> 'archived' and owner_id is not null
       and ($2::text[] is null or owner_id = any($2::text[])) order by 1`,
    [workspaceId, users && [...users]],
  )
  return z
    .array(Owner)
    .parse([...rows])
    .map(({ owner }) => owner)
}

const Published = z.object({ id: z.string(), environment: Environment, ownerId: z.string(), number: z.int() })

async function findPublished({ sql }: Database, workspaceId: string, users: readonly string[]) {
  const rows = await sql.unsafe(
    `select id, environment, owner_id as "ownerId", (state->>'publishedVersion')::int as number from workflows
     where workspace_id = $1 and status <> 'archived' and owner_id = any($2::text[]) order by id`,
    [workspaceId, [...users]],
  )
  return z.array(Published).parse([...rows])
}
