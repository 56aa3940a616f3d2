import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Execution, type ExecutionsQuery, idFactory } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'

/** Compares every combination of the log's filters with a model. */

const log = '/origin/api/service-sdk'
const random = seededRandom(14)
const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item

interface Kept {
  id: string
  artifact: string
  artifactType: string
  executionType: string
  triggerType: string
  triggerId: string
  status: string
  records: { id: string; table: string }[]
}

const rows = 80
const kinds = ['workflow_action', 'business_rule', 'scheduled', 'api']
const startMs = Date.now() - 3_600_000

function kept(n: number): Kept {
  const record = () => ({ id: one(['rec_1', 'rec_2', 'inc_1']), table: one(['assets', 'incident']) })
  return {
    id: idFactory(() => startMs + n * 1_000)('execution'),
    artifact: one(['art_a', 'art_b']),
    artifactType: one(kinds),
    executionType: one([...kinds, 'test']),
    triggerType: one(['workflow_node', 'scheduled_job', 'webhook', 'manual', 'api']),
    triggerId: one(['run_1', 'evt_1']),
    status: one(['running', 'completed', 'completed', 'failed', 'timeout', 'cancelled']),
    records: Array.from({ length: Math.floor(random() * 3) }, record),
  }
}

type Filters = { [Name in keyof ExecutionsQuery]?: string }

/** Whether an execution matches each filter. */
const holds: { [Name in keyof Required<ExecutionsQuery>]: (row: Kept, given: string) => boolean } = {
  artifactType: ({ artifactType }, given) => artifactType === given,
  executionType: ({ executionType }, given) => executionType === given,
  success: ({ status }, given) =>
    given === 'true' ? status === 'completed' : status === 'failed' || status === 'timeout',
  status: ({ status }, given) => status === given,
  triggerType: ({ triggerType }, given) => triggerType === given,
  triggerId: ({ triggerId }, given) => triggerId === given,
  // Both filters must match the same record.
  tableName: () => true,
  recordId: () => true,
}
const names = Object.keys(holds) as (keyof ExecutionsQuery)[]

function matches(row: Kept, filters: Filters): boolean {
  const { tableName, recordId } = filters
  const touched =
    (tableName === undefined && recordId === undefined) ||
    row.records.some(({ id, table }) => (recordId ?? id) === id && (tableName ?? table) === table)
  return touched && names.every((name) => filters[name] === undefined || holds[name](row, filters[name]))
}

/** Returns values for the chosen filters that match the row, so that not every result is empty. */
function filtersOf(row: Kept, chosen: readonly (keyof ExecutionsQuery)[]): Filters {
  const record = row.records[0] ?? { id: 'rec_1', table: 'assets' }
  const values: Required<Filters> = {
    ...{ artifactType: row.artifactType, executionType: row.executionType, status: row.status },
    ...{
      triggerType: row.triggerType,
      triggerId: row.triggerId,
      recordId: record.id,
      tableName: record.table,
    },
    success: String(row.status === 'completed'),
  }
  return Object.fromEntries(chosen.map((name) => [name, values[name]]))
}

let world: SdkFixture
const executions = Array.from({ length: rows }, (_, n) => kept(n))

beforeAll(async () => {
  world = await startSdk()
  const { sql } = world.service
  const { workspaceId = '' } = world.principal
  const startedAt = new Date(startMs).toISOString()
  await sql`select add_execution_month(${startedAt}::date)`
  for (const [at, row] of executions.entries()) {
    // Another tenant's executions as well, which must never be found.
    for (const [environment, id] of [
      ['production', row.id],
      ['staging', idFactory(() => startMs + at)('execution')],
    ] as const) {
      const ended = row.status === 'running' ? null : startedAt
      await sql`insert into executions (id, workspace_id, environment, artifact_id, artifact_slug, artifact_version,
          artifact_type, execution_type, trigger_type, trigger_id, status, input, started_at, completed_at, bytes, depth,
          lease_owner, held_until)
        values (${id}, ${workspaceId}, ${environment}, ${row.artifact}, 'any', 1, ${row.artifactType}, ${row.executionType},
          ${row.triggerType}, ${row.triggerId}, ${row.status}, '{}', ${startedAt}, ${ended}, 2, 0,
          'unknown', ${ended === null ? 'infinity' : null}::text::timestamptz)`
      for (const record of row.records)
        await sql`insert into execution_records (execution_id, record_id, table_name, workspace_id, environment)
          values (${id}, ${record.id}, ${record.table}, ${workspaceId}, ${environment}) on conflict do nothing`
    }
  }
})
afterAll(() => world?.stop())

async function listed(filters: Filters, limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const query: string = new URLSearchParams({
      ...filters,
      limit: String(limit),
      ...(after !== '' && { after }),
    }).toString()
    const { items, pagination } = (await world.api.get(`${log}/executions?${query}`)).page(Execution)
    ids.push(...items.map(({ id }) => id))
    after = pagination.nextCursor
  }
  return ids
}

it('any combination of filters returns the executions that match all of them, in order, at any page size', async () => {
  const wrong: object[] = []
  let nonempty = 0
  for (let subset = 0; subset < 2 ** names.length; subset++) {
    const chosen = names.filter((_, at) => (subset >> at) & 1)
    const filters = filtersOf(one(executions), chosen)
    const expected = executions
      .filter((row) => matches(row, filters))
      .map(({ id }) => id)
      .reverse()
    if (expected.length > 0) nonempty++
    const found = await listed(filters, one([1, 3, 200]))
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ filters, found, expected })
  }
  expect(wrong).toEqual([])
  expect(nonempty).toBeGreaterThan(150)
})
