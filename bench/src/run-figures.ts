import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { request } from 'undici'
import { incidents, type MeasureOptions } from './log/creates.js'
import { consumersCaughtUp } from './log/pipeline.js'
import { cpuAtRest } from './process-times.js'
import type { Figure } from './report.js'

const eventCount = 200
/**
 * Number of waiting runs, and of due runs of another workspace; set `WAITING_RUNS=1000000` for the number in the
 * issue.
 */
const waitingRuns = Number(process.env.WAITING_RUNS ?? 20_000)
const queuedRuns = Number(process.env.QUEUED_RUNS ?? 20_000)
const restSeconds = 30
/** Longer than the interval of autovacuum, and than the delay before V8 collects the heap of an idle process. */
const settleSeconds = 130
const insertsAtOnce = 50_000

/** Returns a function that calls the API and returns the `data` of the response. */
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

/** Creates and publishes a workflow. */
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

/** Time from the commit of an event to the start of the run it triggers, one at a time, by the clock of Postgres. */
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
 * Cost of runs that wait for a day (copies of the rows of one such run) and of their journals: compared with the
 * same platform without them, after Postgres and V8 have finished the background work that the load caused.
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

/**
 * Waits until no work is queued, autovacuum has finished, and processes have been idle long enough to collect their
 * heaps.
 */
async function settle(cluster: Cluster): Promise<void> {
  await consumersCaughtUp(cluster)
  await nothingIsDue(cluster)
  const sql = clientOf(cluster)
  await sql`vacuum analyze`
  await sql`checkpoint`
  await sql.end()
  await delay(settleSeconds * 1_000)
}

/** Waits until work queued earlier is done. */
async function nothingIsDue(cluster: Cluster): Promise<void> {
  const sql = clientOf(cluster)
  const due = () =>
    sql`select 1 from runs where ended_at is null and (due_at <= now() or lease_owner is not null) limit 1`
  while ((await due()).length > 0) await delay(500)
  await sql.end()
}

/** Measures a run of a workspace while another workspace has many due runs. */
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

/** Starts a run and waits until it is waiting and no process works on it. */
async function waiting(cluster: Cluster, id: string): Promise<string> {
  const { runId } = await caller(cluster)<{ runId: string }>(`/workflows/${id}/trigger`, {})
  const sql = clientOf(cluster)
  const rests = () =>
    sql`select 1 from runs where id = ${runId} and status = 'waiting' and lease_owner is null`
  while ((await rests()).length === 0) await delay(50)
  await sql.end()
  return runId
}

/** Copies the rows of a run. Copies for another workspace, which has its own version, are due immediately. */
async function copyRuns(
  cluster: Cluster,
  { runId, count, workspaceId }: { runId: string; count: number; workspaceId?: string },
): Promise<void> {
  const sql = clientOf(cluster)
  const pinnedTo = workspaceId && (await copyVersion(sql, { runId, workspaceId }))
  const columnOverrides = new Map<string, string>(
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
         select ${copyId}, ${ofRun.map((name) => columnOverrides.get(name) ?? name).join(', ')}
         from runs, generate_series($2::int, $3::int) n where id = $1 returning id)
       insert into run_entries (run_id, ${ofEntry.join(', ')})
       select made.id, ${ofEntry.map((name) => (name === 'entry' ? pinned : `e.${name}`)).join(', ')} from made, run_entries e where e.run_id = $1`,
      [...range, pinnedTo ?? null],
    )
  }
  await sql`vacuum analyze runs`
  await sql.end()
}

/** Copies the version a run is pinned to into another workspace; returns the id of the copy. */
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
