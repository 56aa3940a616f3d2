import { ApiError, type TableState } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { isRestricted } from './rules.js'

/** Rejects free SQL from users under a row rule in the workspace: a rule cannot be added to SQL they write. */
export function createRowRuleGuard({ sql }: Pick<Database, 'sql'>): (meta: RequestMeta) => Promise<void> {
  return async ({ tenant, principal }) => {
    const rows = await sql.unsafe<{ state: TableState }[]>(
      `select state from tables where workspace_id = $1 and environment = $2 and purge_at is null
         and json_array_length(state->'rules') > 0`,
      [tenant.workspaceId, tenant.environment],
      { prepare: true },
    )
    const ruled = rows.map(({ state }) => state)
    if (isRestricted(ruled, principal))
      throw new ApiError('forbidden', 'Row rules restrict what you may read here, so you cannot run SQL.')
  }
}
