import type postgres from 'postgres'

/** Values that the incidents written below can be filtered by. */
export const person = 'usr_7'
export const items = { frequent: 'ci_often', rare: 'ci_7' }
export const caller = 'usr_caller_62'
export const words = { rare: 'kernelpanic', medium: 'certificate', common: 'checkout' }

const start = Date.parse('2024-01-01T00:00:00.000Z')
/** Creation time of the incident with this number. */
export const createdAt = (number: number) => new Date(start + number * 60_000).toISOString()

export interface Incidents {
  workspaceId: string
  count: number
  /** Prefix of the ids; a different one for each workspace. */
  prefix: string
}

/**
 * Writes incidents and their events as the event store would have: one a minute, every fifth with a second event. 66
 * have the rare word, every 200th the medium one, three in ten the common one. Indexes are built afterwards; rows and
 * indexes are written on two connections in parallel, because Postgres would take several minutes otherwise.
 */
export async function writeIncidents(sql: postgres.Sql, incidents: Incidents) {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = 'itsm' and tablename in ('incidents', 'events') and indexname <> 'events_unpublished_idx'
      and indexname not in (select conname from pg_constraint)`
  for (const { name } of indexes) await sql`drop index ${sql(name)}`
  const middle = Math.floor(incidents.count / 2)
  await Promise.all([
    writeRange(sql, incidents, 1, middle),
    writeRange(sql, incidents, middle + 1, incidents.count),
  ])
  // The search index takes by far the longest, so it is started first and is done when the others are.
  const [longest, ...others] = indexes.toSorted((a) => (a.name === 'incidents_search_idx' ? -1 : 1))
  const build = async (definitions: typeof others) => {
    for (const { definition } of definitions) await sql.unsafe(definition)
  }
  await Promise.all([build(longest ? [longest] : []), build(others)])
  await sql`vacuum analyze incidents, events`
}

async function writeRange(sql: postgres.Sql, incidents: Incidents, from: number, to: number) {
  const { workspaceId } = incidents
  await sql.begin(async (tx) => {
    await tx`
      create temporary table sentences on commit drop as
      select at, string_agg('term' || floor(20000 * random() ^ 3), ' ') as words
      from generate_series(0, 999) at, generate_series(1, 12) word group by at`
    await tx`create unique index on sentences (at)`
    await tx`create temporary table made on commit drop as ${made(tx, incidents, from, to)}`
    await tx`
      insert into incidents (id, workspace_id, environment, version, state)
      select id, ${workspaceId}, 'production', case when n % 5 = 0 then 2 else 1 end, state::json
      from made order by n`
    await tx`
      insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource,
        data, created_at)
      select itsm.new_event_id(), 'incidents', id, version,
        case version when 1 then 'incident.created' else 'incident.updated' end, ${workspaceId}, 'production',
        '{}', '{}', ('{"before":null,"after":' || state || ',"changes":[]}')::json,
        created::timestamptz + (version - 1) * interval '1 day'
      from made, generate_series(1, 2) version where version = 1 or n % 5 = 0 order by n`
  })
}

/** The states as text: `format` is many times as fast as building JSON. */
const made = (sql: postgres.TransactionSql, { prefix, count }: Incidents, from: number, to: number) => sql`
  select n, id, created, format(${template}, id, n, title, words, given.status, given.severity, assignee, n % 20, about.category,
    about.item, about.caller, about.channel, about.priority, created, created) as state
  from (
    select n, 'inc_' || ${prefix}::text || lpad(n::text, 20, '0') as id, words,
      to_char(timestamp '2024-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
      case when n % 10 < 3 then ${words.common} else 'payment' end || ' fails'
        || case when n % 200 = 0 then ${` ${words.medium}`}::text else '' end
        || case when n % ${Math.floor(count / 66)}::int = 0 then ${` ${words.rare}`}::text else '' end as title,
      (array['on_hold', 'in_progress', 'in_progress', 'open', 'open', 'open', 'open', 'resolved', 'resolved'])[
        1 + floor(random() * 60)::int] as status,
      (array['critical', 'high', 'high', 'high'])[1 + floor(random() * 20)::int] as severity,
      floor(random() * 200)::int as person
    from generate_series(${from}::int, ${to}::int) n join sentences on at = (n * 7919::bigint) % 1000
  ) drawn,
  lateral (select coalesce(drawn.status, 'closed') as status, coalesce(drawn.severity, 'medium') as severity,
    case when person < 150 then '"usr_' || person || '"' else 'null' end as assignee) given,
  lateral (select
    case when n % 50 = 0 then 'P1' when n % 10 = 1 then 'P2' when n % 4 = 0 then 'P4' when n % 30 = 7 then 'P5' else 'P3' end
      as priority,
    case when n % 4 > 0 then '"category_' || n % 12 || '"' else 'null' end as category,
    case when n % 20 = 3 then ${`"${items.frequent}"`}::text when n % 3 = 1 then '"ci_' || n % 5000 || '"' else 'null' end
      as item,
    case when n % 2 = 0 then '"usr_caller_' || (n * 31::bigint) % 3000 || '"' else 'null' end as caller,
    case when n % 200 = 2 then '"walk_in"' when n % 3 = 0 then '"email"' when n % 3 = 1 then '"portal"' else 'null' end
      as channel) about`

const template =
  '{"id":"%s","number":"INC-%s","title":"%s","description":"%s","status":"%s","severity":"%s","assigneeId":%s,' +
  '"assignmentGroup":"team_%s","category":%s,"ciId":%s,"callerId":%s,"channel":%s,"tags":["bench"],"holdReason":null,' +
  '"resolutionCode":null,"resolutionNotes":null,"resolvedAt":null,"closedAt":null,"reopenCount":0,' +
  '"escalationLevel":0,"commentCount":0,"impact":"medium","urgency":"medium","priority":"%s",' +
  '"priorityOverride":null,"parentId":null,"childCount":0,"problemId":null,"changeId":null,' +
  '"causedByChangeId":null,"watcherIds":[],"majorState":"none","dedupKey":null,' +
  '"createdBy":{"id":"usr_bench","name":"Bench","type":"user"},"createdAt":"%s","updatedAt":"%s"}'
