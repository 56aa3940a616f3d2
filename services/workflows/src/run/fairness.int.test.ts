import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startTestService, type TestService, waitFor } from '@opsplane/testing'
import { runService } from '../fixture/run-service.js'
import { effectFailure } from './perform/effect.js'
import type { Runs } from './runs.js'

/** Number of queued runs of a noisy workspace. */
const queued = Number(process.env.WORKFLOW_QUEUED ?? 2_000)
const insertsAtOnce = 1_000

/** Effects in progress, and effects begun in total. */
const tarpits = { open: 0, begun: 0 }
let service: TestService
let runs: Runs
const refuses = () => Promise.reject(effectFailure('not_there', 'This test has no such effect.'))
/** An effect that never responds. */
const http = ({ signal }: { signal: AbortSignal }) => {
  tarpits.open += 1
  tarpits.begun += 1
  return new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      tarpits.open -= 1
      reject(signal.reason)
    })
  })
}
const fixture = runService({
  maxRuns: { all: 64, ofOne: 16 },
  effects: { http, api: refuses, connector: refuses, artifact: refuses, publish: refuses },
})
beforeAll(async () => {
  service = await startTestService(fixture.service)
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
})
afterAll(() => service?.stop())

const noisy = { ...fixture.tenant, workspaceId: 'ws_noisy' }
const tarpit = fixture.define({
  steps: [{ id: 'hang', type: 'http', url: 'https://tarpit.test', timeoutSeconds: 600 }],
})
/** Exhausts the heap, which kills the child process that evaluates it. */
const hostile = fixture.define({
  steps: [{ id: 'burst', type: 'transform', value: '{{ $map([1..9999999], function($n) { [1..9999] }) }}' }],
})
const usual = fixture.define({
  steps: [
    { id: 'double', type: 'transform', value: '{{ input * 2 }}' },
    { id: 'sum', type: 'transform', value: '{{ $sum([steps.double.output, 1]) }}' },
  ],
})

/** Inserts due runs without a worker, as after their triggers. */
async function queue() {
  const { runId } = await runs.start(tarpit({ tenant: noisy }))
  const { sql } = service
  const names = await sql`select column_name as name from information_schema.columns
    where table_name = 'runs' and table_schema = current_schema() and column_name not in ('id')`
  const columns = names.map(({ name }) => String(name))
  const given = new Map<string, string>([
    ...([
      ['status', `'queued'`],
      ['seq', '0'],
      ['started_at', 'null'],
      ['lease_owner', 'null'],
    ] as const),
    ...([
      ['held_until', 'null'],
      ['lease_fence', '0'],
      ['due_at', 'now()'],
    ] as const),
  ])
  const values = columns.map((name) => given.get(name) ?? name).join(', ')
  for (let from = 0; from < queued; from += insertsAtOnce)
    await sql.unsafe(
      `with made as (
         insert into runs (id, ${columns.join(', ')})
         select left(id, 14) || lpad(n::text, 16, '0'), ${values}
         from runs, generate_series($2::int, $3::int) n where id = $1 returning id)
       insert into run_entries (run_id, seq, at, entry)
       select made.id, 0, at, entry from made, run_entries where run_id = $1 and seq = 0`,
      [runId, from, Math.min(from + insertsAtOnce, queued) - 1],
    )
}

test(`${queued} queued runs of one workspace, tarpits and killers of children, keep no other one waiting`, async () => {
  await queue()
  runs.wake()
  await waitFor(() => tarpits.open >= 16)
  const hostiles = await Promise.all([1, 2].map(() => runs.start(hostile({ tenant: noisy }))))
  expect(hostiles).toHaveLength(2)
  // The noisy workspace has its maximum number of active runs, and they stay active.
  for (let n = 0; n < 5; n++) {
    const tenant = { ...fixture.tenant, workspaceId: `ws_quiet_${n}` }
    const { runId } = await runs.start(usual({ tenant, input: n }))
    expect(await runs.waitForEnd(runId, 60_000)).toMatchObject({ status: 'completed', output: n * 2 + 1 })
  }
  // A run found as due work, as after a crash, is also executed before them.
  const tenant = { ...fixture.tenant, workspaceId: 'ws_found' }
  const found = await service.sql.begin((tx) => runs.start(usual({ tenant, input: 20 }), tx))
  runs.wake()
  expect(await runs.waitForEnd(found.runId, 60_000)).toMatchObject({ status: 'completed', output: 41 })
  expect(tarpits.begun).toBeLessThanOrEqual(18)
  const [left] = await service.sql`
    select count(*)::int as count from runs where workspace_id = 'ws_noisy' and status = 'queued'`
  expect(left?.count).toBeGreaterThanOrEqual(queued - 18)
})
