import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { idFactory, minId, newId } from '@opsplane/contracts'
import { drizzle } from 'drizzle-orm/postgres-js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { deriveDeliveryId } from './delivery-id.js'
import { insertStatement } from './enqueue/fan-out-statement.js'
import { failedDeliveries } from './failures/groups.js'
import { deliveriesQuery, type ListDeliveries } from './queries.js'
import { recordStatement } from './record/record-statement.js'
import { dayMs, toDayNumber } from './retention/retention-policy.js'
import { listDaysUntil } from './retention/retention-statements.js'

// The days of the retention period; older partitions would be dropped.
const days = 28
const today = new Date().toISOString().slice(0, 10)
let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
  await fixture.service.sql`
    select add_delivery_day(${today}::date - ago) from generate_series(0, ${days}::int) ago`
})
afterAll(() => fixture?.stop())

interface Node {
  'Relation Name'?: string
  'Node Type': string
  'Actual Loops'?: number
  'Actual Rows'?: number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}

/** The executed plan nodes that read or write a relation, under the generic plan, which serves any parameters. */
async function executed(statement: string, parameters: (string | number | string[] | null)[]) {
  const sql = await fixture.service.sql.reserve()
  try {
    await sql.unsafe('begin; set local plan_cache_mode = force_generic_plan')
    await sql.unsafe(`prepare planned as ${statement}`)
    const values = parameters.map((value) => literal(value)).join(', ')
    const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
      `explain (analyze, format json) execute planned(${values})`,
    )
    const nodes = row ? flat(row['QUERY PLAN'][0].Plan) : []
    return nodes.filter((node) => (node['Actual Loops'] ?? 0) > 0 && 'Relation Name' in node)
  } finally {
    await sql.unsafe('rollback; deallocate all')
    sql.release()
  }
}

/** The partitions that a statement reads. */
async function scanned(...[statement, parameters]: Parameters<typeof executed>) {
  const read = await executed(statement, parameters)
  return [...new Set(read.flatMap((node) => node['Relation Name'] ?? []))].filter((name) =>
    /_\d{8}$/.test(name),
  )
}

function flat(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)]
}

function literal(value: string | number | string[] | null): string {
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]::text[]`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

const partition = (table: string, atMs: number) =>
  `${table}_${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '')}`

describe('with partitions for many days', () => {
  const webhookId = newId('webhook')
  const eventId = newId('event')
  const id = deriveDeliveryId(eventId, webhookId)
  const now = Date.now()
  const tenant = { workspace_id: 'ws_1', environment: 'production' }

  it('an insert accesses only its own partition', async () => {
    const events = [{ ...tenant, event_id: eventId, event: {} }]
    const row = {
      ...tenant,
      id,
      webhook_id: webhookId,
      event_id: eventId,
      event_type: 'a.b',
      url: 'https://a',
    }
    const rows = [{ ...row, bytes: 2, lease_ms: null, waits: false, created_at: '2026-01-01T00:00:00.000Z' }]
    const now = '2026-01-01T00:00:00.000Z'
    const parameters = ['[]', 0, '[]', JSON.stringify(events), JSON.stringify(rows), '[]', 'replica', now]
    expect(await scanned(insertStatement, parameters)).toEqual([])
  })

  it('recording a result scans only the partition of its delivery', async () => {
    const result = { id, seq: 0, number: 1, status: 'succeeded', request_headers: {}, url: 'https://a' }
    const parameters = [JSON.stringify([result]), 5, id, id, 'replica']
    expect(await scanned(recordStatement, parameters)).toEqual([partition('deliveries', now)])
  })

  it('a search by time scans only the partitions of that time', async () => {
    const statement = `select * from deliveries where webhook_id = $1 and id >= $2 and id < $3 order by id desc limit 20`
    const [from, to] = [now - 3 * dayMs, now - 2 * dayMs]
    const found = await scanned(statement, [webhookId, minId('delivery', from), minId('delivery', to)])
    expect(found.sort()).toEqual([partition('deliveries', from), partition('deliveries', to)])
  })

  it.each(['enable_nestloop', 'enable_hashjoin'])(
    'the existing days are found without %s',
    async (setting) => {
      const found = await fixture.service.sql.begin(async (sql) => {
        await sql.unsafe(`set local ${setting} = off`)
        return listDaysUntil(sql, toDayNumber(now))
      })
      expect(found).toEqual(Array.from({ length: days + 1 }, (_, at) => toDayNumber(now) - days + at))
    },
  )
})

describe('with many deliveries per day', () => {
  const each = 400
  const mine = { workspaceId: newId('workspace'), environment: 'production' } as const
  const webhookId = newId('webhook')

  beforeAll(async () => {
    const { sql } = fixture.service
    const dayBegins = Array.from({ length: days }, (_, ago) => Date.parse(today) - ago * dayMs)
    const ids = dayBegins.flatMap((at) =>
      Array.from({ length: each }, (_, n) => idFactory(() => at + n)('delivery')),
    )
    await sql`insert into webhooks (id, workspace_id, environment, version, state)
      values (${webhookId}, ${mine.workspaceId}, 'production', 1, ${sql.json({ name: 'Many', status: 'active' })})`
    await sql`insert into deliveries (id, workspace_id, environment, webhook_id, event_id, event_type, url, status, created_at)
      select id, case n % 2 when 0 then ${mine.workspaceId} else 'ws_other' end, 'production',
        case n % 2 when 0 then ${webhookId} else 'wh_other' end, 'evt_' || n, 'a.b', 'https://a',
        case when n % 100 < 2 then 'failed' else 'succeeded' end, '2026-01-01T00:00:00.000Z'
      from unnest(${ids}::text[]) with ordinality as t(id, n)`
    await sql`vacuum analyze deliveries`
  })

  /** The number of deliveries that a statement reads. */
  async function looksAt(...[statement, parameters]: Parameters<typeof executed>) {
    const nodes = await executed(statement, parameters)
    const read = nodes.filter((node) => node['Relation Name']?.startsWith('deliveries_'))
    return read.reduce(
      (sum, node) =>
        sum +
        ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0),
      0,
    )
  }

  it.each<[string, Pick<ListDeliveries, 'status' | 'eventType'>]>([
    ['all', {}],
    ['failed ones', { status: ['failed'] }],
    ['failed and held ones', { status: ['failed', 'held'] }],
    ['those of a type', { eventType: ['a.b'] }],
  ])('a page over all webhooks of %s reads few other rows', async (_, filters) => {
    const options = { ...filters, tenant: mine, of: 'all', limit: 20 } as const
    const query = deliveriesQuery(drizzle.mock(), options).toSQL()
    expect(await looksAt(query.sql, query.params as string[])).toBeLessThan(each)
  })

  it('the currently failed deliveries are found without reading the others', async () => {
    const parameters = [mine.workspaceId, mine.environment, '9000000000000']
    expect(await looksAt(failedDeliveries, parameters)).toBeLessThan(each)
  })
})
