import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { incidents, type MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'

const clocks = 20_000
/** Minimum clocks per second, in addition to the relay, audit and fan-out of the two events of each breach. */
const goal = 500

/**
 * SLA clocks that all breach at the same instant: how many are claimed and reported per second, each with an event
 * of the clock and one of its incident.
 */
export async function measureSla({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const sql = postgres(cluster.info.postgresUrl, {
    max: 1,
    onnotice: () => {},
    connection: { search_path: 'itsm' },
  })
  try {
    const timer = await firstClock(cluster, sql)
    say(`Letting ${clocks} SLA clocks breach…`)
    await copyClocks(sql, timer, new Date(Date.now() - 60_000).toISOString())
    const started = performance.now()
    while ((await breaches(sql)) < clocks) await delay(100)
    const perSecond = clocks / ((performance.now() - started) / 1_000)
    say(`  ${perSecond.toFixed(0)}/s`)
    return [
      {
        name: 'SLA clocks swept, breaching',
        value: `${perSecond.toFixed(0)}/s`,
        goal: `≥ ${goal}/s`,
        met: perSecond >= goal,
      },
    ]
  } finally {
    await sql.end()
  }
}

async function breaches(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from incident_sla_breaches`
  return row?.count ?? 0
}

/** Creates an incident under a policy of one hour, and waits for its clock. */
async function firstClock(cluster: MeasureOptions['cluster'], sql: postgres.Sql): Promise<string> {
  const { url, headers } = incidents(cluster)
  const post = async (path: string, body: object) => {
    const response = await fetch(path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
  const policy = { name: 'Bench', metric: 'resolution', goals: { low: 60 }, warnings: [] }
  await post(url.replace('/incidents', '/sla-policies'), policy)
  await post(url, { title: 'Breaches an SLA', severity: 'low' })
  for (;;) {
    const [row] = await sql<{ id: string }[]>`select id from sla_timers limit 1`
    if (row) return row.id
    await delay(50)
  }
}

/** Copies the clock and its incident many times, due at `dueAt`. */
async function copyClocks(sql: postgres.Sql, timerId: string, dueAt: string): Promise<void> {
  const startedAt = new Date(Date.parse(dueAt) - 3_600_000).toISOString()
  const ledger = JSON.stringify([{ from: startedAt, state: 'running', reason: null, eventId: 'evt_1' }])
  await sql.begin(async (tx) => {
    await tx`
      insert into incidents (id, workspace_id, environment, version, state)
      select 'inc_' || lpad(g::text, 26, '0'), i.workspace_id, i.environment, 1,
        (i.state::jsonb || jsonb_build_object('id', 'inc_' || lpad(g::text, 26, '0'),
          'number', 'INC-' || (g + 100000000)))::json
      from incidents i join sla_timers t on t.incident_id = i.id, generate_series(1, ${clocks}::int) g
      where t.id = ${timerId}`
    await tx`
      insert into sla_progress (incident_id, version)
      select 'inc_' || lpad(g::text, 26, '0'), 1 from generate_series(1, ${clocks}::int) g`
    await tx`
      insert into sla_timers (id, workspace_id, environment, version, state)
      select 'tmr_' || lpad(g::text, 26, '0'), t.workspace_id, t.environment, 1,
        (t.state::jsonb || jsonb_build_object('id', 'tmr_' || lpad(g::text, 26, '0'),
          'entityId', 'inc_' || lpad(g::text, 26, '0'), 'nextFireAt', ${dueAt}::text, 'dueAt', ${dueAt}::text,
          'ledger', ${ledger}::text::jsonb))::json
      from sla_timers t, generate_series(1, ${clocks}::int) g where t.id = ${timerId}`
    await tx`
      insert into stream_heads (stream_id, stream_type, workspace_id, environment, version)
      select id, 'sla_timers', workspace_id, environment, version from sla_timers
      union all select id, 'incidents', workspace_id, environment, version from incidents on conflict do nothing`
  })
}
