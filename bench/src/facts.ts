import type postgres from 'postgres'

/**
 * Inserts incidents of a desk with 8 teams over a year, into the monthly partitions of their ids; rows of a kept
 * database stay unchanged.
 */
export async function fillFacts(sql: postgres.Sql, workspaceId: string, rows: number): Promise<void> {
  const [had] = await sql<{ facts: string }[]>`
    select count(*) as facts from fact_incidents where workspace_id = ${workspaceId}`
  if (Number(had?.facts) === rows) return
  if (Number(had?.facts) > 0) throw new Error(`the kept database has ${had?.facts} facts, not ${rows}`)
  await sql`select add_fact_incidents_month((date '2025-01-01' + make_interval(months => m))::date)
    from generate_series(0, 11) m`
  await sql.unsafe(
    `insert into fact_incidents (id, workspace_id, environment, version, created_at, number, title, status, severity, priority,
       assignment_group, category, caller_id, assignee_id, channel, major_state, resolved_at, time_to_resolve_ms,
       reopen_count, escalation_level, comment_count)
     select 'inc_' || left(ulid_start(date_trunc('month', at at time zone 'UTC')::date), 10) || lpad(n::text, 16, '0'), $1,
       'production', 1, at, 'INC-' || n, 'Incident ' || n,
       case when n % 10 = 0 then 'open' else 'resolved' end,
       (array['critical', 'high', 'medium', 'medium', 'low'])[1 + n % 5], 'P' || (1 + n % 4), 'team-' || n % 8,
       (array['disk', 'network', 'login', 'mail', null])[1 + n % 5], 'usr_' || (n::bigint * 7919 % 20000), 'usr_' || n % 60,
       (array['email', 'portal', 'alert'])[1 + n % 3], 'none', case when n % 10 > 0 then at + took end,
       case when n % 10 > 0 then (extract(epoch from took) * 1000)::bigint end, n % 7 / 6, n % 9 / 8, n % 4
     from (select n, timestamptz '2025-01-01Z' + n * (interval '365 days' / $2::integer) as at,
         make_interval(secs => exp(6 + 5 * abs(sin(n)))) as took
       from generate_series(0, $2::integer - 1) n) f`,
    [workspaceId, rows],
  )
  await sql.unsafe(
    `insert into rollup_marks (id, workspace_id, environment, dataset, level, block, due_at)
     select concat_ws('/', $1::text, 'production', 'incidents', 0, block), $1, 'production', 'incidents', 0, block, now()
     from (select distinct floor(extract(epoch from created_at) / 900)::integer as block from fact_incidents
       where workspace_id = $1) b`,
    [workspaceId],
  )
  await sql`analyze fact_incidents`
}

/** Waits until the service has aggregated everything; larger blocks are made due early. */
export async function addedUp(sql: postgres.Sql): Promise<void> {
  for (;;) {
    const rows =
      await sql`update rollup_marks set due_at = now() where due_at > now() and level > 0 returning id`
    const [left] = await sql`select from rollup_marks limit 1`
    if (rows.length === 0 && !left) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
