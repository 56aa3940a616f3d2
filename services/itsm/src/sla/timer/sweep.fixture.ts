import type { Database } from '@opsplane/postgres'
import { addHeads } from '@opsplane/testing'

/** Indexes needed to maintain clocks and find due ones. */
const keyIndexes = [
  ...['incidents_pkey', 'sla_timers_pkey', 'sla_timers_incident_key'],
  ...['sla_timers_fire_due_idx', 'sla_timers_fire_turn_idx'],
]

/** Drops all other indexes of incidents and clocks. They serve lists only and would slow down every copy. */
export async function withoutListIndexes(sql: Database['sql']) {
  const indexes = await sql<{ name: string }[]>`
    select indexrelid::regclass::text as name from pg_index
    where indrelid in ('incidents'::regclass, 'sla_timers'::regclass)`
  for (const { name } of indexes) if (!keyIndexes.includes(name)) await sql.unsafe(`drop index ${name}`)
}

/** Maximum number of copies per statement, so that it finishes before its timeout on a busy machine. */
const atOnce = 10_000

/** Creates copies of an incident and its one-hour clock that differ only in their ids and due time. */
export async function copyClocks(
  sql: Database['sql'],
  timerId: string,
  { from, to }: { from: number; to: number },
  dueAt: string,
) {
  for (let first = from; first <= to; first += atOnce)
    await copyPiece(sql, timerId, { from: first, to: Math.min(to, first + atOnce - 1) }, dueAt)
}

async function copyPiece(
  sql: Database['sql'],
  timerId: string,
  { from, to }: { from: number; to: number },
  dueAt: string,
) {
  const startedAt = new Date(Date.parse(dueAt) - 3_600_000).toISOString()
  const ledger = JSON.stringify([{ from: startedAt, state: 'running', reason: null, eventId: 'evt_1' }])
  await sql.begin(async (tx) => {
    // Inserting so many rows with all their indexes may take longer than the statement timeout on a slow machine.
    await tx`set local statement_timeout = 0`
    await tx`
      insert into sla_timers (id, workspace_id, environment, version, state)
      select 'tmr_' || lpad(g::text, 26, '0'), t.workspace_id, t.environment, 1,
        (t.state::jsonb || jsonb_build_object('id', 'tmr_' || lpad(g::text, 26, '0'),
          'entityId', 'inc_' || lpad(g::text, 26, '0'), 'nextFireAt', ${dueAt}::text, 'dueAt', ${dueAt}::text,
          'ledger', ${ledger}::text::jsonb))::json
      from sla_timers t, generate_series(${from}::int, ${to}::int) g where t.id = ${timerId}`
    await tx`
      insert into incidents (id, workspace_id, environment, version, state)
      select 'inc_' || lpad(g::text, 26, '0'), i.workspace_id, i.environment, 1,
        (i.state::jsonb || jsonb_build_object('id', 'inc_' || lpad(g::text, 26, '0'), 'number', 'INC-' || (g + 100)))::json
      from incidents i join sla_timers t on t.incident_id = i.id, generate_series(${from}::int, ${to}::int) g
      where t.id = ${timerId}`
    await tx`
      insert into sla_progress (incident_id, version)
      select 'inc_' || lpad(g::text, 26, '0'), 1 from generate_series(${from}::int, ${to}::int) g`
    await addHeads(tx, 'sla_timers', 'incidents')
  })
}

/** Copies the events of an incident for its copies, so that their clocks can be recomputed. */
export async function copyEvents(
  sql: Database['sql'],
  incidentId: string,
  ids: { from: number; to: number },
) {
  await sql`
    insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource,
      data, created_at)
    select new_event_id(), e.stream_type, 'inc_' || lpad(g::text, 26, '0'), e.version, e.type,
      e.workspace_id, e.environment, e.actor, e.resource,
      jsonb_set(e.data::jsonb, '{after,id}', to_jsonb('inc_' || lpad(g::text, 26, '0')))::json, e.created_at
    from events e, generate_series(${ids.from}::int, ${ids.to}::int) g
    where e.stream_id = ${incidentId} and e.version = 1`
}
