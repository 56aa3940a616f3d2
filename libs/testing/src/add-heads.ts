import type { Sql } from 'postgres'

/** Gives every row of read models that a test has written by itself the stream that commands to it continue. */
export async function addHeads(sql: Pick<Sql, 'unsafe'>, ...tables: [string, ...string[]]): Promise<void> {
  for (const table of tables)
    await sql.unsafe(`
      insert into stream_heads (stream_id, stream_type, workspace_id, environment, version)
      select id, '${table}', workspace_id, environment, version from ${table} on conflict do nothing`)
}
