import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { jobs, type ScratchJobs, scratchJobs } from './scratch.fixture.js'
import {
  dueCountsStatement,
  dueKeysStatement,
  leaseStatement,
  lockStatement,
  nextDue,
  type Statement,
  workspaceDueCountsStatement,
} from './statements.js'

let scratch: ScratchJobs
beforeAll(async () => {
  scratch = await scratchJobs('due_plans_test')
  await scratch.add(20_000, { inMs: 3_600_000 })
  await scratch.add(10, { workspaceId: 'ws_b' })
  await scratch.admin`update jobs set finished_at = now() where id > 'ws_a_010000' and workspace_id = 'ws_a'`
  await scratch.admin`vacuum analyze jobs`
})
afterAll(() => scratch?.close())

async function planOf({ text, parameters }: Statement): Promise<string[]> {
  const plans: string[] = []
  for (const mode of ['force_custom_plan', 'force_generic_plan'])
    await scratch.admin.begin(async (tx) => {
      await tx.unsafe(`set local plan_cache_mode = ${mode}`)
      const [row] = await tx.unsafe(`explain (format json) ${text}`, parameters)
      plans.push(JSON.stringify(row?.['QUERY PLAN']))
    })
  return plans
}
const claim = { at: null, limit: 50 }
const turns = { keys: ['ws_a', 'ws_b'], each: 25 }
const lease = { owner: 'me', leaseMs: 1_000, except: ['ws_b_000001'] }

it.each<[string, string, Statement]>([
  ['a lock', 'jobs_due_idx', lockStatement(jobs, [], claim)],
  ['a lock in turns', 'jobs_turn_idx', lockStatement(jobs, [], { ...claim, turns })],
  ['a lease', 'jobs_due_idx', leaseStatement(jobs, [], { ...claim, ...lease })],
  ['a lease in turns', 'jobs_turn_idx', leaseStatement(jobs, [], { ...claim, ...lease, turns })],
  ['the list of whose turn it is', 'jobs_turn_idx', dueKeysStatement(jobs, null)],
  ['a count', 'jobs_due_idx', dueCountsStatement([{ name: 'jobs', of: jobs }], 10)],
  [
    'a count of a workspace',
    'jobs_turn_idx',
    workspaceDueCountsStatement([{ name: 'jobs', of: jobs }], 'ws_b', 10),
  ],
  ['a look', 'jobs_due_idx', { text: `select ${nextDue(jobs)}`, parameters: [] }],
])('%s reads due rows through the index %s only', async (_, index, statement) => {
  for (const plan of await planOf(statement)) {
    expect(plan).toContain(index)
    expect(plan).not.toContain('Seq Scan')
    expect(plan).not.toContain('"Sort"')
  }
})

const counted = async ({ text, parameters }: Statement) =>
  (await scratch.admin.unsafe<{ name: string; due: number }[]>(text, parameters as string[])).map(
    ({ name, due }) => [name, due],
  )

it('counts due rows in total, or of one workspace without those of the installation', async () => {
  await scratch.add(2, { prefix: 'due', inMs: -1_000 })
  const works = [{ name: 'jobs', of: jobs }]
  expect(await counted(dueCountsStatement(works, 100))).toEqual([['jobs', 12]])
  expect(await counted(dueCountsStatement(works, 4))).toEqual([['jobs', 4]])
  expect(await counted(workspaceDueCountsStatement(works, 'ws_a', 100))).toEqual([['jobs', 2]])
  expect(await counted(workspaceDueCountsStatement(works, 'ws_c', 100))).toEqual([['jobs', 0]])
  const { fairKey: _, ...unfair } = jobs
  const more = [
    { name: 'feeds', of: { ...jobs, ofPlatform: true } as const },
    { name: 'unfair', of: unfair },
  ]
  expect(await counted(workspaceDueCountsStatement(more, 'ws_b', 100))).toEqual([['unfair', 10]])
})
