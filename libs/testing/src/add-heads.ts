import type { Sql } from 'postgres'

/** Gives every stream the head its last event asks for, after a test has written events by itself. */
export async function addHeads(sql: Pick<Sql, 'unsafe'>): Promise<void> {
  await sql.unsafe(`
    insert into stream_heads (stream_id, stream_type, workspace_id, environment, version, ended)
    select distinct on (stream_id) stream_id, stream_type, workspace_id, environment, version,
      json_typeof(data->'after') = 'null'
    from events order by stream_id, version desc
    on conflict do nothing`)
}
