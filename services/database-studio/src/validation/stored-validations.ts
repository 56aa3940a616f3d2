import type { KnownValidation, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'

/** Stores validations that are newer than the stored ones, in whatever order they arrive. */
export async function storeValidations(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  validations: readonly KnownValidation[],
): Promise<void> {
  if (validations.length === 0) return
  const rows = validations.map(({ artifactId, version, validates }) => ({
    ...{ artifactId, version, tables: validates?.tables ?? [], on: validates?.on ?? [] },
    whenUnavailable: validates?.whenUnavailable ?? 'fail_open',
  }))
  await sql.unsafe(
    `insert into record_validations as known
       (artifact_id, workspace_id, environment, version, tables, operations, when_unavailable)
     select "artifactId", $1, $2, version, tables, "on", "whenUnavailable"
     from json_to_recordset($3::text::json)
       as given("artifactId" text, version int, tables text[], "on" text[], "whenUnavailable" text)
     on conflict (artifact_id) do update set version = excluded.version, tables = excluded.tables,
       operations = excluded.operations, when_unavailable = excluded.when_unavailable
     where known.version < excluded.version and known.workspace_id = $1 and known.environment = $2`,
    [workspaceId, environment, JSON.stringify(rows)],
    { prepare: true },
  )
}
