import type { TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { shareInFlight } from './share-in-flight.js'

export interface FactVersions {
  /** Returns the number of changes to the tenant's facts, by dataset. Concurrent callers share one statement. */
  of(tenant: TenantScope): Promise<Readonly<Record<string, string>>>
}

export function createFactVersions({ sql }: Pick<Database, 'sql'>): FactVersions {
  const read = async ({ workspaceId, environment }: TenantScope) => {
    const rows = await sql.unsafe<{ dataset: string; version: string }[]>(
      `select dataset, version::text from fact_versions where workspace_id = $1 and environment = $2
       order by dataset`,
      [workspaceId, environment],
      { prepare: true },
    )
    return Object.fromEntries(rows.map(({ dataset, version }) => [dataset, version]))
  }
  return { of: shareInFlight(({ workspaceId, environment }) => `${workspaceId}/${environment}`, read) }
}
