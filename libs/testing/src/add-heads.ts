import type { Sql } from 'postgres'

/** Adds the stream heads of read model rows inserted directly by a test, so that commands can continue their streams. */
export async function addHeads(sql: Pick<Sql, 'unsafe'>, ...tables: [string, ...string[]]): Promise<void> {
  for (const table of tables)
    await sql.unsafe(`
      insert into stream_heads (stream_id, stream_type, workspace_id, environment, version)
      select id, '${table}', workspace_id, environment, version from ${table} on conflict do nothing`)
}
