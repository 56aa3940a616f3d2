import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { request } from 'undici'
import { incidents, type MeasureOptions } from './log/creates.js'
import { consumersCaughtUp } from './log/pipeline.js'
import { cpuAtRest } from './process-times.js'
import type { Figure } from './report.js'

const eventCount = 200
/** Runs at rest, and runs of another workspace that wait for a place; `WAITING_RUNS=1000000` for the size of the issue. */
const waitingRuns = Number(process.env.WAITING_RUNS ?? 20_000)
const queuedRuns = Number(process.env.QUEUED_RUNS ?? 20_000)
const restSeconds = 30
/** Longer than the pause between two looks of autovacuum, and V8's before it collects the heap of a quiet process. */
const settleSeconds = 130
const insertsAtOnce = 50_000

/** Calls the API and returns the data of its answer. */
export function caller(cluster: Cluster) {
  const headers = { ...incidents(cluster).headers, 'content-type': 'application/json' }
  return async <Data>(path: string, content: object): Promise<Data> => {
    const url = `${cluster.info.baseUrl}${path}`
    const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(content) })
    const text = await answer.body.text()
    if (answer.statusCode > 299) throw new Error(`${path} was refused: ${text}`)
    return (text === '' ? {} : JSON.parse(text).data) as Data
  }
}

/** A published workflow. */
export async function publishedWorkflow(
  cluster: Cluster,
  name: string,
  definition: object,
  activate = false,
): Promise<string> {
  const call = caller(cluster)
  const { id } = await call<{ id: string }>('/workflows', { name, definition })
  await call(`/workflows/${id}/publish`, { activate })
  return id
}

const clientOf = ({ info }: Cluster) =>
  postgres(info.postgresUrl, { max: 1, onnotice: () => {}, connection: { search_path: 'workflows' } })

/** From the commit of an event to the start of the run it causes, one after the other, by the clock of Postgres. */
export async function measureEventStarts({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const id = await publishedWorkflow(
    cluster,
    'Reacts',
    {
      trigger: { type: 'event', events: ['incident.created'], filter: { 'data.title': 'bench event' } },
      steps: [{ id: 'one', type: 'transform', value: 1 }],
    },
    true,
  )
  const call = caller(cluster)
  for (let n = 0; n < eventCount; n++) await call('/itsm/incidents', { title: 'bench event' })
  const sql = clientOf(cluster)
  const started = () => sql<{ ms: number }[]>`
    select (extract(epoch from r.started_at - (e.entry->'trigger'->>'at')::timestamptz) * 1000)::float8 as ms
    from runs r join run_entries e on e.run_id = r.id and e.seq = 0
    where r.workflow_id = ${id} and r.started_at is not null order by 1`
  let rows = await started()
  for (; rows.length < eventCount; rows = await started()) await delay(100)
  await sql.end()
  const at = (share: number) => rows[Math.min(rows.length - 1, Math.floor(rows.length * share))]?.ms ?? 0
  say(`  event → run start: p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms`)
  return [
    {
      name: 'event → run start',
      value: `p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms`,
      goal: '',
      met: true,
    },
  ]
}

/**
 * What runs cost that wait for a day, rows like that of one that waits, and their journals: compared with the same platform without
 * them, once what the load has left to Postgres and to V8 is done.
 */
export async function measureWaitingRuns({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const steps = [{ id: 'wait', type: 'wait', seconds: 86_400 }]
  const id = await publishedWorkflow(cluster, 'Waits', { steps })
  const runId = await waiting(cluster, id)
  await settle(cluster)
  const without = await cpuAtRest(cluster, restSeconds)
  say(`  without waiting runs: ${without.percent.toFixed(2)} % of a core (${without.parts})`)
  await copyRuns(cluster, { runId, count: waitingRuns })
  await settle(cluster)
  const withRuns = await cpuAtRest(cluster, restSeconds)
  say(`  ${waitingRuns} waiting runs: ${withRuns.percent.toFixed(2)} % of a core (${withRuns.parts})`)
  const more = withRuns.percent - without.percent
  return [
    {
      name: `${waitingRuns} waiting runs at rest`,
      value: `${withRuns.percent.toFixed(2)} % of a core, ${without.percent.toFixed(2)} % without them`,
      goal: '< 0.5 % more',
      met: more < 0.5,
    },
  ]
}

/** Everything is worked off, nothing is left to autovacuum, and processes have been quiet for long enough to tidy up. */
async function settle(cluster: Cluster): Promise<void> {
  await consumersCaughtUp(cluster)
  await nothingIsDue(cluster)
  const sql = clientOf(cluster)
  await sql`vacuum analyze`
  await sql`checkpoint`
  await sql.end()
  await delay(settleSeconds * 1_000)
}

/** What was queued before is worked off. */
async function nothingIsDue(cluster: Cluster): Promise<void> {
  const sql = clientOf(cluster)
  const due = () =>
    sql`select 1 from runs where ended_at is null and (due_at <= now() or lease_owner is not null) limit 1`
  while ((await due()).length > 0) await delay(500)
  await sql.end()
}

/** A run of a workspace while another one has many that are due. */
export async function measureNoisyNeighbour({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const steps = [{ id: 'wait', type: 'wait', seconds: 86_400 }]
  const noisy = await publishedWorkflow(cluster, 'Noisy', { steps })
  const quiet = await publishedWorkflow(cluster, 'Quiet', {
    steps: [{ id: 'one', type: 'transform', value: 1 }],
  })
  const workspaceId = 'ws_noisy'
  await copyRuns(cluster, { runId: await waiting(cluster, noisy), count: queuedRuns, workspaceId })
  const call = caller(cluster)
  const times: number[] = []
  for (let n = 0; n < 20; n++) {
    const began = performance.now()
    await call(`/workflows/${quiet}/trigger?wait=20`, {})
    times.push(performance.now() - began)
  }
  const slowest = Math.max(...times)
  say(`  with ${queuedRuns} queued runs: slowest of ${times.length} ${slowest.toFixed(0)} ms`)
  return [
    {
      name: `a run with ${queuedRuns} queued ones of another workspace`,
      value: `slowest of ${times.length}: ${slowest.toFixed(0)} ms`,
      goal: '< 1000 ms',
      met: slowest < 1_000,
    },
  ]
}

/** A run that waits, and that no process works on. */
async function waiting(cluster: Cluster, id: string): Promise<string> {
  const { runId } = await caller(cluster)<{ runId: string }>(`/workflows/${id}/trigger`, {})
  const sql = clientOf(cluster)
  const rests = () =>
    sql`select 1 from runs where id = ${runId} and status = 'waiting' and lease_owner is null`
  while ((await rests()).length === 0) await delay(50)
  await sql.end()
  return runId
}

/** Rows like those of a run; of another workspace, where they have a version of their own, they are due at once. */
async function copyRuns(
  cluster: Cluster,
  { runId, count, workspaceId }: { runId: string; count: number; workspaceId?: string },
): Promise<void> {
  const sql = clientOf(cluster)
  const pinnedTo = workspaceId && (await copyVersion(sql, { runId, workspaceId }))
  const given = new Map<string, string>(
    workspaceId === undefined
      ? []
      : [
          ['workspace_id', `'${workspaceId}'`],
          ['due_at', 'now()'],
        ],
  )
  const columns = async (table: string, key: string) =>
    (
      await sql<{ name: string }[]>`select column_name as name from information_schema.columns
        where table_schema = 'workflows' and table_name = ${table} and column_name <> ${key}`
    ).map(({ name }) => name)
  const [ofRun, ofEntry] = [await columns('runs', 'id'), await columns('run_entries', 'run_id')]
  const pinned = `case when $4::text is null or e.seq > 0 then e.entry
    else jsonb_set(e.entry::jsonb, '{programRef}', to_jsonb($4::text))::json end`
  const copyId = `left(id, 14) || lpad(n::text, 16, '0')`
  for (let from = 0; from < count; from += insertsAtOnce) {
    const range = [runId, from, Math.min(from + insertsAtOnce, count) - 1]
    await sql.unsafe(
      `with made as (insert into runs (id, ${ofRun.join(', ')})
         select ${copyId}, ${ofRun.map((name) => given.get(name) ?? name).join(', ')}
         from runs, generate_series($2::int, $3::int) n where id = $1 returning id)
       insert into run_entries (run_id, ${ofEntry.join(', ')})
       select made.id, ${ofEntry.map((name) => (name === 'entry' ? pinned : `e.${name}`)).join(', ')} from made, run_entries e where e.run_id = $1`,
      [...range, pinnedTo ?? null],
    )
  }
  await sql`vacuum analyze runs`
  await sql.end()
}

/** The version a run is pinned to, in another workspace; returns what it is pinned to by. */
async function copyVersion(
  sql: postgres.Sql,
  { runId, workspaceId }: { runId: string; workspaceId: string },
): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into workflow_versions (id, workspace_id, environment, version, state)
    select 'copy.' || v.id, ${workspaceId}, v.environment, v.version, v.state
    from workflow_versions v join run_entries e on v.id = e.entry->>'programRef'
    where e.run_id = ${runId} and e.seq = 0 returning id`
  if (!row) throw new Error('the run has no version')
  return row.id
}
