import type { TenantScope } from '@opsplane/contracts'
import { type Database, translatePostgresError } from '@opsplane/postgres'

/** An aggregate's row in its read model, which is the fold of its events. */
export interface Snapshot {
  state: unknown
  version: number
}

export interface Snapshots {
  load(table: string, id: string, tenant: TenantScope): Promise<Snapshot | undefined>
  /** Version of the last event of a stream that no longer has a row; undefined when this tenant has no such stream. */
  lastVersion(table: string, id: string, tenant: TenantScope): Promise<number | undefined>
}

/** What runs a statement: the pool, or one transaction. */
export type StatementRunner = Pick<Database['sql'], 'unsafe'>

export function createSnapshots(sql: StatementRunner): Snapshots {
  const prepared = { prepare: true }
  const query = async <Row extends object>(text: string, parameters: string[]) => {
    try {
      return await sql.unsafe<Row[]>(text, parameters, prepared)
    } catch (error) {
      throw translatePostgresError(error)
    }
  }
  return {
    async load(table, id, { workspaceId, environment }) {
      const [row] = await query<Snapshot>(
        `select state, version from "${table}" where id = $1 and workspace_id = $2 and environment = $3`,
        [id, workspaceId, environment],
      )
      return row
    },
    async lastVersion(table, id, { workspaceId, environment }) {
      const [row] = await query<{ version: number }>(
        `select version from events where stream_id = $1 and stream_type = $2 and workspace_id = $3
           and environment = $4 order by version desc limit 1`,
        [id, table, workspaceId, environment],
      )
      return row?.version
    },
  }
}
