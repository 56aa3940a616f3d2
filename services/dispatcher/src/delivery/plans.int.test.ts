import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { claimStatement } from './claim-statement.js'
import { deliveryIdOf, leastDeliveryId } from './delivery-id.js'
import { insertStatement } from './fan-out-statement.js'
import { recordStatement } from './record-statement.js'
import { dayMs, dayOf } from './retention-policy.js'
import { daysUntil } from './retention-statements.js'
import { createWaitingDays } from './waiting-days.js'

// Those that are kept: older ones would be dropped sooner or later.
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
  Plans?: Node[]
}

/** What a statement reads or writes under the plan that serves any parameters. */
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

/** The partitions a statement reads. */
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

describe('with the partitions of many days', () => {
  const webhookId = newId('webhook')
  const eventId = newId('event')
  const id = deliveryIdOf(eventId, webhookId)
  const now = Date.now()
  const tenant = { workspace_id: 'ws_1', environment: 'production' }

  it('an insert touches its own', async () => {
    const events = [{ ...tenant, event_id: eventId, event: {} }]
    const row = {
      ...tenant,
      id,
      webhook_id: webhookId,
      event_id: eventId,
      event_type: 'a.b',
      url: 'https://a',
    }
    const rows = [{ ...row, status: 'pending', created_at: '2026-01-01T00:00:00.000Z' }]
    const parameters = [JSON.stringify(events), JSON.stringify(rows), '2026-01-01T00:00:00.000Z']
    expect(await scanned(insertStatement, parameters)).toEqual([])
  })

  it('a record reads that of its deliveries', async () => {
    const result = { id, seq: 0, number: 1, status: 'succeeded', request_headers: {}, url: 'https://a' }
    const parameters = [JSON.stringify([result]), 5, id, id]
    expect(await scanned(recordStatement, parameters)).toEqual([partition('deliveries', now)])
  })

  it('a search by time reads those of the time', async () => {
    const statement = `select * from deliveries where webhook_id = $1 and id >= $2 and id < $3 order by id desc limit 20`
    const [from, to] = [now - 3 * dayMs, now - 2 * dayMs]
    const found = await scanned(statement, [webhookId, leastDeliveryId(from), leastDeliveryId(to)])
    expect(found.sort()).toEqual([partition('deliveries', from), partition('deliveries', to)])
  })

  it.each(['enable_nestloop', 'enable_hashjoin'])(
    'the days there are are found without %s',
    async (setting) => {
      const found = await fixture.service.sql.begin(async (sql) => {
        await sql.unsafe(`set local ${setting} = off`)
        return daysUntil(sql, dayOf(now))
      })
      expect(found).toEqual(Array.from({ length: days + 1 }, (_, at) => dayOf(now) - days + at))
    },
  )

  it('a claim looks into each day once, and then where something waits', async () => {
    const { sql } = fixture.service
    // Not due yet for the dispatcher that runs.
    const [dueAt, later] = [now + 3_600_000, now + 7_200_000]
    await sql`
      insert into deliveries (id, workspace_id, environment, webhook_id, event_id, event_type, url, status, due_at,
        created_at)
      select 'del_' || ulid_start(${today}::date - ago) || lpad(n::text, 16, '0'), 'ws_1', 'production', 'wh_' || n % 20,
        'evt_' || ulid_start(${today}::date - ago) || lpad(n::text, 16, '0'), 'a.b', 'https://a',
        case when ago = 0 and n < 40 then 'pending' else 'succeeded' end, case when ago = 0 and n < 40 then ${dueAt}::bigint end, ''
      from generate_series(0, ${days}::int) ago, generate_series(1, case ago when 0 then 5000 else 200 end) n`
    await sql`analyze deliveries`
    const { starts, ends } = createWaitingDays(90)(now)
    const nodes = await executed(claimStatement, ['r', later, 1_000, [], 16, 400, '', starts, ends])
    const scans = nodes.filter((node) => /^deliver.*_\d{8}$/.test(node['Relation Name'] ?? ''))
    const newest = partition('deliveries', now)
    const sequential = scans.filter((node) => node['Node Type'] === 'Seq Scan')
    expect(sequential.map((node) => node['Relation Name'])).not.toContain(newest)
    const loops = new Map<string, number>()
    for (const node of scans) {
      const name = node['Relation Name'] ?? ''
      loops.set(name, (loops.get(name) ?? 0) + (node['Actual Loops'] ?? 0))
    }
    expect(loops.get(partition('deliveries', now - dayMs))).toBe(1)
    expect(loops.get(partition('deliveries', now - 20 * dayMs))).toBe(1)
    expect(loops.get(newest)).toBeGreaterThan(20)
  })
})
