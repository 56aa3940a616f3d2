import {
  Environment,
  Filter,
  missingRights,
  type NeededRights,
  permissions,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Carrier, Owned, ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { loadInstallation } from './installations.js'
import type { Packs } from './packs.js'

/** Packs, which are suspended when their owner loses a right their artifacts need. */
export function ownedPacks(
  { database, clock }: Pick<ServiceContext, 'database' | 'clock'>,
  packs: Pick<Packs, 'suspend'>,
): Owned {
  const suspend = (
    { id, ownerId }: { id: string; ownerId: string },
    tenant: TenantScope,
    missing: readonly string[],
    causationId: string,
  ) => {
    const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId }
    return packs.suspend(id, { ownerId, missing }, meta)
  }
  return {
    ownersIn: (workspaceId, users) => ownersIn(database, workspaceId, users),
    async suspend({ workspaceId, userIds, permissions: held, hides, causationId }) {
      for (const pack of await activeOf(database, workspaceId, userIds)) {
        const { environment, ownerId, needs, rules } = pack
        const hidden = rules.some((rule) => hides(ownerId, environment, rule))
        const missing = missingOf(held[ownerId], needs, hidden)
        if (missing.length > 0) await suspend(pack, { workspaceId, environment }, missing, causationId)
      }
    },
    async carriersOf(workspaceId, userId) {
      const carriers: Carrier[] = []
      for (const pack of await activeOf(database, workspaceId, [userId])) {
        const tenant = { workspaceId, environment: pack.environment }
        const { grant } = await loadInstallation(database, pack.installation, tenant)
        carriers.push({
          grant,
          suspend: (missing, causationId) => suspend(pack, tenant, missing, causationId),
        })
      }
      return carriers
    },
  }
}

const missingOf = (
  permissions: readonly string[] | undefined,
  needs: NeededRights,
  hidden: boolean,
): string[] => (permissions ? missingRights(permissions, needs, hidden) : ['membership'])

/** Owners of active packs in the workspace. */
async function ownersIn(
  { sql }: Pick<Database, 'sql'>,
  workspaceId: string,
  users: readonly string[] | null,
): Promise<string[]> {
  const rows = await sql.unsafe<{ owner: string }[]>(
    `select distinct owner_id as owner from packs
     where workspace_id = $1 and status = 'active' and ($2::text[] is null or owner_id = any($2::text[])) order by 1`,
    [workspaceId, users && [...users]],
  )
  return rows.map(({ owner }) => owner)
}

const Rights = z.array(z.enum(permissions))
const Active = z.object({
  id: z.string(),
  environment: Environment,
  ownerId: z.string(),
  installation: z.string(),
  needs: z.object({ reads: Rights, uses: Rights }),
  rules: z.array(z.object({ events: z.array(z.string()), filter: Filter.optional() })),
})

async function activeOf({ sql }: Pick<Database, 'sql'>, workspaceId: string, users: readonly string[]) {
  const rows = await sql.unsafe(
    `select id, environment, owner_id as "ownerId", state->'needs' as needs,
       state->>'installation' as installation,
       (select coalesce(json_agg(a.state->'rule'), '[]'::json) from artifacts a
         where a.workspace_id = packs.workspace_id and a.environment = packs.environment and a.kind = 'business_rule'
           and a.status = 'active' and a.id in (select each->>'id' from json_array_elements(packs.state->'artifacts') each)
       ) as rules
     from packs
     where workspace_id = $1 and status = 'active' and owner_id = any($2::text[]) order by id`,
    [workspaceId, [...users]],
  )
  return rows.map((row) => Active.parse(row))
}
