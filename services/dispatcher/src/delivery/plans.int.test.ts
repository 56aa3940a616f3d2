import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { claimStatement } from './claim-statement.js'
import { deliveryIdOf, leastDeliveryId } from './delivery-id.js'
import { insertStatement } from './fan-out-statement.js'
import { recordStatement } from './record-statement.js'
import { dayMs } from './retention-policy.js'

const days = 35
let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
  await fixture.service.sql`
    select add_delivery_day(current_date - ago) from generate_series(0, ${days}::int) ago`
})
afterAll(() => fixture?.stop())

interface Node {
  'Relation Name'?: string
  'Node Type': string
  'Actual Loops'?: number
  Plans?: Node[]
}

/** The partitions a statement reads under the plan that serves any parameters. */
async function scanned(statement: string, parameters: (string | number | string[] | null)[]) {
  const sql = await fixture.service.sql.reserve()
  try {
    await sql.unsafe('begin; set local plan_cache_mode = force_generic_plan')
    await sql.unsafe(`prepare planned as ${statement}`)
    const values = parameters.map((value) => literal(value)).join(', ')
    const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
      `explain (analyze, format json) execute planned(${values})`,
    )
    const nodes = row ? flat(row['QUERY PLAN'][0].Plan) : []
    const read = nodes.filter((node) => (node['Actual Loops'] ?? 0) > 0)
    return [...new Set(read.flatMap((node) => node['Relation Name'] ?? []))].filter((name) =>
      /_\d{8}$/.test(name),
    )
  } finally {
    await sql.unsafe('rollback; deallocate all')
    sql.release()
  }
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

  it('a claim goes through the indexes of what is due', async () => {
    const sql = await fixture.service.sql.reserve()
    try {
      await sql.unsafe('begin; set local plan_cache_mode = force_generic_plan')
      await sql.unsafe(`prepare claim as ${claimStatement}`)
      const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
        `explain (format json) execute claim('r', ${now}, 1000, '{}', 16, 400, '', '{}', '{}')`,
      )
      const nodes = row ? flat(row['QUERY PLAN'][0].Plan) : []
      const scans = nodes.filter((node) => node['Relation Name']?.startsWith('deliver') === true)
      expect(scans.length).toBeGreaterThan(days)
      expect(scans.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
    } finally {
      await sql.unsafe('rollback; deallocate all')
      sql.release()
    }
  })
})
