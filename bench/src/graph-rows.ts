import type postgres from 'postgres'

export const graphSize = { items: 10_000, relations: 30_000 }

interface GraphOptions {
  itemId: string
  /** One character, which keeps the ids of several graphs apart. */
  prefix: string
}

/**
 * Writes a random graph around the item as the event store would have, and returns its workspace. Few items have
 * many dependents, as in real ones, so that everything is within five hops.
 */
export async function writeGraph(sql: postgres.Sql, { itemId, prefix }: GraphOptions): Promise<string> {
  const { items, relations } = graphSize
  const [ci, rel] = [`ci_${prefix}`, `rel_${prefix}`]
  const [row] = await sql`select workspace_id from configuration_items where id = ${itemId}`
  const workspaceId = String(row?.workspace_id)
  await sql`
    insert into configuration_items (id, workspace_id, environment, version, state)
    select ${ci}::text || lpad(n::text, 25, '0'), workspace_id, environment, 1,
           (state::jsonb || jsonb_build_object('id', ${ci}::text || lpad(n::text, 25, '0'), 'name', 'item-' || n))::json
      from configuration_items, generate_series(2, ${items}) n where id = ${itemId}`
  await sql`
    with ends as materialized (
      select n, 1 + floor(random() * ${items})::int as s, 1 + floor(random() ^ 3 * ${items})::int as t
        from generate_series(1, ${relations}) n)
    insert into ci_relations (id, workspace_id, environment, version, state)
    select ${rel}::text || lpad(n::text, 25, '0'), ${workspaceId}, 'production', 1,
           json_build_object('id', ${rel}::text || lpad(n::text, 25, '0'), 'type', 'depends_on',
             'sourceId', case s when 1 then ${itemId} else ${ci}::text || lpad(s::text, 25, '0') end,
             'targetId', case t when 1 then ${itemId} else ${ci}::text || lpad(t::text, 25, '0') end,
             'createdBy', json_build_object('id', 'usr_1', 'name', 'Ada', 'type', 'user'),
             'createdAt', '2026-03-02T09:00:00.000Z')
      from ends where s <> t on conflict do nothing`
  await sql`analyze configuration_items, ci_relations`
  return workspaceId
}
