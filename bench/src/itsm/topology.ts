import postgres from 'postgres'
import { request } from 'undici'
import { throughGateway } from '../limits/callers.js'
import { median } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'

const items = 10_000
const relations = 30_000
const goalMs = 200
const rounds = 15
/** Relations of one additional item; only a few lead to an item with the rare word. */
const spokes = 100_000
const rareWord = 'kernelpanic'

/** Measures the topology around one of 10,000 items at depth 5, compared with fetching the same rows by plain SQL. */
export async function measureTopology({
  cluster,
  say,
}: Pick<MeasureOptions, 'cluster' | 'say'>): Promise<Figure[]> {
  const { url, login } = throughGateway(cluster)
  if (!('headers' in login)) throw new Error('the gateway takes an API key')
  const { headers } = login
  const sql = postgres(cluster.info.postgresUrl, {
    max: 2,
    onnotice: () => {},
    connection: { search_path: 'itsm' },
  })
  const itemId = await createItem(`${url}/cmdb/items`, headers)
  const workspaceId = await writeGraph(sql, { itemId, prefix: '0' })
  await writePast(sql, { workspaceId, itemId })
  const timeRequest = async (path: string) => {
    const startedAt = performance.now()
    const response = await request(`${url}/cmdb/${path}`, { headers })
    const text = await response.body.text()
    const tookMs = performance.now() - startedAt
    if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}: ${text}`)
    return { tookMs, text }
  }
  const topologyPath = `topology?around=${itemId}&depth=5&limit=10000`
  const raw = async () => {
    const startedAt = performance.now()
    const [nodes, edges] = await Promise.all([
      sql`select id, name, class, status, criticality from configuration_items where workspace_id = ${workspaceId}`,
      sql`select id, source_id, target_id, type from ci_relations where workspace_id = ${workspaceId}`,
    ])
    JSON.stringify({ nodes, edges })
    return performance.now() - startedAt
  }

  say('Warming up topology…')
  for (let at = 0; at < 3; at++) await Promise.all([raw(), timeRequest(topologyPath)])
  const { nodes, edges } = JSON.parse((await timeRequest(topologyPath)).text).data
  if (nodes.length < items * 0.95) throw new Error(`the topology shows ${nodes.length} items only`)
  const times = {
    raw: [] as number[],
    topology: [] as number[],
    whole: [] as number[],
    impact: [] as number[],
    past: [] as number[],
  }
  const pastPath = `${topologyPath}&asOf=${new Date().toISOString()}`
  if (JSON.parse((await timeRequest(pastPath)).text).data.nodes.length !== nodes.length)
    throw new Error('the topology was another one then')
  for (let round = 0; round < rounds; round++) {
    times.raw.push(await raw())
    times.topology.push((await timeRequest(topologyPath)).tookMs)
    times.whole.push((await timeRequest('topology?limit=10000')).tookMs)
    times.impact.push((await timeRequest(`items/${itemId}/impact`)).tookMs)
    times.past.push((await timeRequest(pastPath)).tookMs)
  }
  const [limit, ours] = [median(times.raw), median(times.topology)]
  const [whole, impact] = [median(times.whole), median(times.impact)]
  say(`Writing ${spokes} relations of one item…`)
  const hub = await createItem(`${url}/cmdb/items`, headers)
  await writeSpokes(sql, hub)
  await sql.end()
  const words: number[] = []
  for (let round = -2; round < rounds; round++) {
    const { tookMs, text } = await timeRequest(`relations?itemId=${hub}&q=${rareWord}`)
    if (JSON.parse(text).data.length !== 5) throw new Error(`the rare word is in ${text}`)
    if (round >= 0) words.push(tookMs)
  }
  say(`  ${nodes.length} items, ${edges.length} relations`)
  return [
    {
      name: 'topology of 10,000 items and 30,000 relations, depth 5',
      value: `${ours.toFixed(0)} ms`,
      raw: `${limit.toFixed(0)} ms plain SQL of the same rows`,
      ratio: limit / ours,
      goal: `≤ ${goalMs} ms`,
      met: ours <= goalMs,
    },
    plain('the whole of the same graph', whole),
    plain('impact of one item in the same graph', impact),
    plain('the same topology as of an instant, items of three versions', median(times.past)),
    plain("a rare word among one item's 100,000 relations", median(words)),
  ]
}

const plain = (name: string, ms: number): Figure => ({
  name,
  value: `${ms.toFixed(0)} ms`,
  goal: '',
  met: true,
})

async function createItem(url: string, headers: Record<string, string>): Promise<string> {
  const response = await request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ class: 'service', name: 'bench', status: 'operational' }),
  })
  const text = await response.body.text()
  if (response.statusCode !== 201) throw new Error(`an item create answered ${response.statusCode}: ${text}`)
  return String(JSON.parse(text).data.id)
}

export interface GraphOptions {
  itemId: string
  /** One character that keeps the ids of several graphs distinct. */
  prefix: string
}

/**
 * Writes a random graph around the item as the event store would have, and returns its workspace. As in real graphs,
 * few items have many dependents, so that everything is within five hops.
 */
export async function writeGraph(sql: postgres.Sql, { itemId, prefix }: GraphOptions): Promise<string> {
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

/**
 * Writes the history that the log of such a graph would contain: every item created and edited twice, every relation
 * added.
 */
async function writePast(
  sql: postgres.Sql,
  { workspaceId, itemId }: { workspaceId: string; itemId: string },
): Promise<void> {
  const write = (table: string, versions: number) => sql`
    insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
        created_at)
      select itsm.new_event_id(), ${table}::text, id, v, 'written', workspace_id, environment, '{}', '{}',
             json_build_object('before', case v when 1 then null else state end, 'after', state), now()
        from ${sql(table)}, generate_series(1, ${versions}::int) v
       where workspace_id = ${workspaceId} and id <> ${itemId}`
  await write('configuration_items', 3)
  await write('ci_relations', 1)
  await sql`analyze events`
}

/** Relates the item to `spokes` others, five of which have the rare word in their names. */
async function writeSpokes(sql: postgres.Sql, hub: string): Promise<void> {
  await sql`
    insert into configuration_items (id, workspace_id, environment, version, state)
    select 'ci_SP' || lpad(n::text, 24, '0'), workspace_id, environment, 1,
           (state::jsonb || jsonb_build_object('id', 'ci_SP' || lpad(n::text, 24, '0'),
             'name', case n % 20000 when 17 then ${rareWord}::text else 'spoke-' || n end))::json
      from configuration_items, generate_series(1, ${spokes}::int) n where id = ${hub}`
  await sql`
    insert into ci_relations (id, workspace_id, environment, version, state)
    select 'rel_SP' || lpad(n::text, 24, '0'), workspace_id, environment, 1,
           json_build_object('id', 'rel_SP' || lpad(n::text, 24, '0'), 'type', 'depends_on',
             'sourceId', ${hub}::text, 'targetId', 'ci_SP' || lpad(n::text, 24, '0'),
             'createdAt', '2026-03-02T09:00:00.000Z')
      from configuration_items, generate_series(1, ${spokes}::int) n where id = ${hub}`
  await sql`analyze configuration_items, ci_relations`
}
