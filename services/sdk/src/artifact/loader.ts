import { type ArtifactRule, Environment, type TenantScope } from '@opsplane/contracts'
import { createGroups, type Database, isDatabaseUnavailable } from '@opsplane/postgres'
import { z } from 'zod'
import { StoredVersion, versionRef } from './versions.js'

/** One version of an artifact, ready to run. */
export interface LoadedArtifact
  extends Pick<
    StoredVersion,
    | ('slug' | 'name' | 'kind' | 'code' | 'inputSchema' | 'outputSchema' | 'permissions' | 'limits')
    | ('retryable' | 'rule' | 'api' | 'schedule')
  > {
  id: string
  version: number
  /** `suspended`: its installer lacks a permission it needs, so it does not run. */
  status: 'active' | 'suspended'
  /** Grant used to act for `ownerId`, with the platform permissions the artifact's own ones require. */
  grant: string
  ownerId: string
}

/** An active business rule, with the data needed to match events and records. */
export interface ActiveRule {
  tenant: TenantScope
  id: string
  slug: string
  version: number
  rule: ArtifactRule
}

export interface ArtifactLoader {
  /**
   * Loads an artifact by id or slug; the current version unless one is given. Returns `undefined` if it does not exist
   * in this environment, or its pack was removed.
   */
  loadArtifact(tenant: TenantScope, idOrSlug: string, version?: number): Promise<LoadedArtifact | undefined>
  /** The active business rules of these environments, ordered by slug. */
  activeRules(tenants: readonly TenantScope[]): Promise<ActiveRule[]>
}

const maxKept = 500

const FoundRow = z.object({
  n: z.int(),
  id: z.string(),
  status: z.enum(['active', 'suspended']),
  number: z.int(),
  ownerId: z.string(),
  installation: z.string(),
})
const RuleRow = z.object({
  tenant: z.object({ workspaceId: z.string(), environment: Environment }),
  id: z.string(),
  slug: z.string(),
  version: z.int(),
  rule: z.unknown(),
})

/** Versions and grants are immutable, so they are read once and cached; the least recently used are evicted first. */
export function createArtifactLoader(database: Pick<Database, 'sql' | 'planned'>): ArtifactLoader {
  // Schedules load artifacts within the transaction that claimed them; that transaction uses the other pool.
  const { planned: sql } = database
  const versions = recent<StoredVersion | undefined>()
  const grants = recent<string | undefined>()

  const stateOf = async (
    table: 'artifact_versions' | 'pack_installations',
    id: string,
    tenant: TenantScope,
  ) => {
    const [row] = await sql.unsafe<{ state: unknown }[]>(
      `select state from ${table} where id = $1 and workspace_id = $2 and environment = $3`,
      [id, tenant.workspaceId, tenant.environment],
      { prepare: true },
    )
    return row?.state
  }
  const versionOf = (ref: string, tenant: TenantScope) =>
    versions(keyOf(ref, tenant), async () => {
      const state = await stateOf('artifact_versions', ref, tenant)
      return state === undefined ? undefined : StoredVersion.parse(state)
    })
  const grantOf = (ref: string, tenant: TenantScope) =>
    grants(keyOf(ref, tenant), async () => {
      const state = await stateOf('pack_installations', ref, tenant)
      return state === undefined ? undefined : z.object({ grant: z.string() }).parse(state).grant
    })

  // Many artifacts are invoked concurrently, often the same ones. Each is read after its request; concurrent requests
  // share one statement.
  const artifactReads = createGroups({
    write: (queries: readonly ArtifactQuery[]) => find(database, queries),
    isAway: isDatabaseUnavailable,
  })

  return {
    async loadArtifact(tenant, idOrSlug, version) {
      const found = await artifactReads.add({ tenant, idOrSlug })
      if (!found) return undefined
      const { id, status, number, ownerId, installation } = found
      const [stored, grant] = await Promise.all([
        versionOf(versionRef(id, version ?? number), tenant),
        grantOf(installation, tenant),
      ])
      if (!stored || grant === undefined) return undefined
      return { ...stored, id, version: stored.number, status, grant, ownerId }
    },

    async activeRules(tenants) {
      const rows = await sql.unsafe(
        `select json_build_object('workspaceId', workspace_id, 'environment', environment) as tenant, id, slug,
           (state->>'artifactVersion')::int as version, state->'rule' as rule
         from artifacts join unnest($1::text[], $2::text[]) as asked (workspace_id, environment)
           using (workspace_id, environment)
         where kind = 'business_rule' and status = 'active' order by slug`,
        [tenants.map(({ workspaceId }) => workspaceId), tenants.map(({ environment }) => environment)],
        { prepare: true },
      )
      // The row was written from a parsed rule, which guarantees the type.
      return rows.map((row) => RuleRow.parse(row)).map((row) => ({ ...row, rule: row.rule as ArtifactRule }))
    },
  }
}

interface ArtifactQuery {
  tenant: TenantScope
  idOrSlug: string
}

const presentColumns = `id, status, (state->>'artifactVersion')::int as number, owner_id as "ownerId",
  state->>'installation' as installation`

/** Finds the artifact for each id or slug, unless it was removed. */
async function find({ planned }: Pick<Database, 'planned'>, queries: readonly ArtifactQuery[]) {
  const rows = await planned.unsafe(
    `select asked.n::int - 1 as n, found.*
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as asked (workspace_id, environment, ref, n)
     cross join lateral (
       select ${presentColumns} from artifacts a
         where a.id = asked.ref and a.workspace_id = asked.workspace_id and a.environment = asked.environment
       union all
       select ${presentColumns} from artifacts a
         where a.slug = asked.ref and a.workspace_id = asked.workspace_id and a.environment = asked.environment) found
     where found.status <> 'removed'`,
    [
      queries.map(({ tenant }) => tenant.workspaceId),
      queries.map(({ tenant }) => tenant.environment),
      queries.map(({ idOrSlug }) => idOrSlug),
    ],
    { prepare: true },
  )
  const found = new Map(rows.map((row) => FoundRow.parse(row)).map((row) => [row.n, row]))
  return queries.map((_, n) => found.get(n))
}

const keyOf = (ref: string, { workspaceId, environment }: TenantScope) =>
  `${workspaceId}/${environment}/${ref}`

/** Caches recent values by key; missing values are not cached. */
function recent<Value>() {
  const kept = new Map<string, Promise<Value>>()
  return (key: string, make: () => Promise<Value>): Promise<Value> => {
    const found = kept.get(key) ?? make()
    kept.delete(key)
    kept.set(key, found)
    found.then((value) => value === undefined && kept.delete(key)).catch(() => kept.delete(key))
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break
      kept.delete(oldest)
    }
    return found
  }
}
