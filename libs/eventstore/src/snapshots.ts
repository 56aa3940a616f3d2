import type { Instant, TenantScope } from '@opsplane/contracts'
import { type StatementRunner, translatePostgresError } from '@opsplane/postgres'
import { type Sealed, unseal } from './sealed.js'

/** An aggregate's row in its read model: the fold of its events. */
interface Snapshot {
  state: unknown
  version: number
}

export interface Snapshots {
  load(table: string, id: string, tenant: TenantScope): Promise<Snapshot | undefined>
  /** The state after its last event up to the instant; `undefined` if it did not exist then. */
  loadAsOf(table: string, id: string, tenant: TenantScope, instant: Instant): Promise<Snapshot | undefined>
  /** Version of the last event of a stream that no longer has a row; `undefined` if this tenant has no such stream. */
  lastVersion(table: string, id: string, tenant: TenantScope): Promise<number | undefined>
  /** Whether any tenant has ever had an aggregate with this id. */
  isTaken(id: string): Promise<boolean>
}

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
    async loadAsOf(table, id, { workspaceId, environment }, instant) {
      const [row] = await query<{ after: object | null; sealed: Sealed | null; version: number }>(
        `select data->'after' as after, sealed, version from events
           where stream_id = $1 and stream_type = $2 and workspace_id = $3 and environment = $4
             and created_at <= $5::text::timestamptz
           order by version desc limit 1`,
        [id, table, workspaceId, environment, instant],
      )
      return row?.after ? { state: unseal(row.after, row.sealed), version: row.version } : undefined
    },
    async lastVersion(table, id, { workspaceId, environment }) {
      const [row] = await query<{ version: number }>(
        `select version from stream_heads where stream_id = $1 and stream_type = $2 and workspace_id = $3
           and environment = $4`,
        [id, table, workspaceId, environment],
      )
      return row?.version
    },
    async isTaken(id) {
      return (await query('select 1 from stream_heads where stream_id = $1', [id])).length > 0
    },
  }
}
