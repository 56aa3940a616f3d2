import type postgres from 'postgres'

/** Two statuses that few of many incidents have, so that walking past the others would show. */
export const rareStatuses = ['on_hold', 'in_progress']
export const words = { rare: 'kernelpanic', medium: 'certificate', common: 'checkout' }
export const person = 'usr_7'
export const middle = (rows: number) => new Date(start + (rows / 2) * 60_000).toISOString()

const start = Date.parse('2024-01-01T00:00:00.000Z')

/**
 * Writes incidents number `from` to `to`, and their events, as the event store would have: one a minute, every fifth
 * with a second event. Every 5,000th has the rare word, every 200th the medium one, three in ten the common one.
 */
export async function writeIncidents(sql: postgres.Sql, workspaceId: string, from: number, to: number) {
  const indexes = await sql<{ indexname: string; indexdef: string }[]>`
    select indexname, indexdef from pg_indexes where schemaname = 'itsm' and tablename in ('incidents', 'events')
      and indexname not in (select conname from pg_constraint)`
  await sql`set maintenance_work_mem = '256MB'`
  for (const { indexname } of indexes) await sql`drop index ${sql(indexname)}`
  await sql`create temporary table sentences as
    select at, string_agg('term' || floor(20000 * random() ^ 3), ' ') as words
    from generate_series(0, 4999) at, generate_series(1, 12) word group by at`
  await sql`create unique index on sentences (at)`
  await sql`
    create temporary table generated as
    select n, id, created, sealed_state as state from (
      select n, 'inc_' || lpad(n::text, 26, '0') as id,
        to_char(timestamp '2024-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
        random() as chance, floor(random() * 200)::int as who, random() as luck, words
      from generate_series(${from}::int, ${to}::int) n join sentences on at = (n * 7919::bigint) % 5000
    ) drawn, lateral (select format('{"id":"%s","number":"INC-%s","title":"%s","description":"%s","status":"%s","severity":"%s","assigneeId":%s,"assignmentGroup":"team_%s","category":null,"ciId":null,"callerId":null,"tags":["bench"],"holdReason":null,"resolutionCode":null,"resolutionNotes":null,"resolvedAt":null,"closedAt":null,"reopenCount":0,"escalationLevel":0,"commentCount":0,"impact":"medium","urgency":"medium","priority":"P3","priorityOverride":null,"parentId":null,"childCount":0,"problemId":null,"changeId":null,"causedByChangeId":null,"watcherIds":[],"majorState":"none","dedupKey":null,"createdBy":{"id":"usr_bench","name":"Bench","type":"user"},"createdAt":"%s","updatedAt":"%s"}',
      id, n,
      case when n % 10 < 3 then ${words.common} else 'payment' end || ' fails'
        || case when n % 200 = 0 then ${` ${words.medium}`}::text else '' end
        || case when n % 5000 = 0 then ${` ${words.rare}`}::text else '' end,
      words,
      case when chance < 0.01 then 'on_hold' when chance < 0.03 then 'in_progress' when chance < 0.1 then 'open'
        when chance < 0.2 then 'resolved' else 'closed' end,
      case when luck < 0.02 then 'critical' when luck < 0.2 then 'high' else 'medium' end,
      case when who < 150 then '"usr_' || who || '"' else 'null' end, who % 20, created, created) as sealed_state
    ) stated`
  await sql`
    insert into incidents (id, workspace_id, environment, version, state)
    select id, ${workspaceId}, 'production', case when n % 5 = 0 then 2 else 1 end, state::json from generated order by n`
  await sql`
    insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
      created_at, published_at)
    select 'evt_' || version || '_' || id, 'incidents', id, version,
      case version when 1 then 'incident.created' else 'incident.updated' end, ${workspaceId}, 'production', '{}', '{}',
      ('{"before":null,"after":' || state || ',"changes":[]}')::json,
      created::timestamptz + (version - 1) * interval '1 day', now()
    from generated, generate_series(1, 2) version where version = 1 or n % 5 = 0 order by n`
  await sql`drop table generated, sentences`
  for (const { indexdef } of indexes) await sql.unsafe(indexdef)
  await sql`vacuum analyze incidents, events`
}
