import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AnalyticsQuery, type IncidentState, type PlatformEvent } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { seededRandom, testPrincipal } from '@opsplane/testing'
import {
  type Analytics,
  incidentEvent,
  incidentState,
  startAnalytics,
  sumUpAll,
} from '../fact/facts.fixture.js'
import { createFactWriter } from '../fact/write-facts.js'
import { checkDatasetQuery, getDataset } from '../query/check-query.js'
import { answerDataset } from '../query/dataset-query.js'

const workspaceId = testPrincipal().workspaceId ?? ''
const tenant = { workspaceId, environment: 'production' as const }
const random = seededRandom(7)
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
let service: Analytics
let database: Database

beforeAll(async () => {
  service = await startAnalytics()
  database = connect(service.adminUrl, { schema: 'analytics', max: 4 })
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

const first = Date.parse('2026-02-20T00:00:00Z')
const spanMs = 36 * 86_400_000

function randomIncident(): IncidentState {
  const createdAt = new Date(first + Math.floor(random() * spanMs)).toISOString()
  const resolvedAt = random() < 0.6 ? new Date(Date.parse(createdAt) + random() * 9e7).toISOString() : null
  return incidentState({
    ...{ createdAt, resolvedAt, status: resolvedAt ? 'resolved' : 'open' },
    severity: pick(['critical', 'high', 'medium', 'low']),
    assignmentGroup: pick(['payments', 'network', null]),
    category: pick(['disk', null]),
    callerId: `usr_${Math.floor(random() * 300)}`,
    reopenCount: pick([0, 0, 1]),
  })
}

const incidents = Array.from({ length: 500 }, randomIncident)
const write = (events: readonly PlatformEvent[]) => createFactWriter(database, () => {}).write(events)

const queries = [
  {
    grain: 'day',
    timeZone: 'Europe/Berlin',
    dimensions: ['severity'],
    measures: ['incidents', 'callers', 'p90_time_to_resolve', 'reopened'],
  },
  {
    grain: 'month',
    timeZone: 'Asia/Kathmandu',
    measures: ['incidents', 'average_time_to_resolve', 'p50_time_to_resolve'],
  },
  {
    grain: 'week',
    timeZone: 'America/St_Johns',
    dimensions: ['assignmentGroup'],
    measures: ['callers', 'assignees', 'incidents'],
  },
  { dimensions: ['severity', 'status'], measures: ['incidents', 'escalations'], comparePrevious: true },
  {
    filters: { severity: { in: ['critical', 'low'] }, status: 'open' },
    dimensions: ['severity'],
    measures: ['open'],
  },
  {
    filters: { assignmentGroup: { exists: false } },
    grain: 'day',
    measures: ['p99_time_to_resolve', 'callers'],
  },
  {
    dimensions: ['category'],
    measures: ['resolved'],
    grain: 'quarter_hour',
    range: { from: '2026-03-01T00:07:00Z', to: '2026-03-03T11:31:00Z' },
  },
].map((asked) =>
  AnalyticsQuery.parse({
    ...{ dataset: 'incidents', range: { from: '2026-02-25T13:37:00Z', to: '2026-03-27T03:21:00Z' } },
    ...asked,
  }),
)

async function answers() {
  const made = []
  for (const query of queries) {
    const checked = checkDatasetQuery(query, getDataset('incidents'))
    const { rows, totals, comparison } = await answerDataset(database, {
      ...{ tenant, query, checked, now: '2026-04-01T00:00:00.000Z' },
    })
    made.push({ rows, totals, comparison })
  }
  return made
}

const kept = async () => {
  const rows = await service.sql.unsafe<{ level: number; blocks: number }[]>(
    `select level, count(distinct block)::integer as blocks from rollups where workspace_id = $1 group by 1 order by 1`,
    [workspaceId],
  )
  return [...rows]
}

describe('rollups', () => {
  it('return the same results as the facts, in every time zone', async () => {
    await write(incidents.map((state) => incidentEvent(workspaceId, state)))
    const fromFacts = await answers()
    await sumUpAll(database)
    expect((await kept()).map(({ level }) => level)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(await answers()).toEqual(fromFacts)
    expect(fromFacts[0]?.rows.length).toBeGreaterThan(100)
  })

  it('are skipped where facts have changed, and computed again', async () => {
    const changed = incidents.slice(0, 100).map((state) => ({
      ...{ ...state, severity: 'low' as const, status: 'closed' as const },
      updatedAt: '2026-03-31T00:00:00.000Z',
    }))
    const before = await answers()
    await write(changed.map((state) => incidentEvent(workspaceId, state, { version: 2 })))
    const stale = await answers()
    expect(stale).not.toEqual(before)
    await sumUpAll(database)
    expect(await answers()).toEqual(stale)
  })

  it('are read instead of facts where they exist', async () => {
    const before = await answers()
    await service.sql`create table away as select * from fact_incidents`
    await service.sql`delete from fact_incidents`
    const [byDay, , , inAll] = await answers()
    // Only quarter hours at the ends of the range are missing.
    expect(Number(inAll?.totals?.incidents) / Number(before[3]?.totals?.incidents)).toBeGreaterThan(0.99)
    expect(Number(byDay?.totals?.callers)).toBeGreaterThan(100)
    await service.sql`insert into fact_incidents select * from away`
    expect(await answers()).toEqual(before)
  })

  it('of past blocks are computed soon, and those of the current block later', async () => {
    // The next block: the current one may end before the check.
    const [past, ahead] = ['2026-03-01T10:00:00.000Z', new Date(Date.now() + 900_000).toISOString()]
    const rests = async (createdAt: string) => {
      await write([incidentEvent(workspaceId, incidentState({ createdAt }))])
      const [mark] = await service.sql<{ seconds: number }[]>`
        select extract(epoch from due_at - now())::float8 as seconds from rollup_marks
        where dataset = 'incidents' and level = 0
          and block = floor(extract(epoch from ${createdAt}::timestamptz) / 900)::integer`
      return mark?.seconds ?? 0
    }
    expect(await rests(past)).toBeLessThanOrEqual(5)
    expect(await rests(ahead)).toBeGreaterThan(5)
    await sumUpAll(database)
  })

  it('lose no changes while facts change concurrently', async () => {
    let isWriting = true
    const summing = (async () => {
      while (isWriting) await sumUpAll(database)
    })()
    for (let version = 3; version < 8; version++)
      await write(
        incidents
          .slice(0, 100)
          .map((state) =>
            incidentEvent(workspaceId, { ...state, severity: pick(['critical', 'high']) }, { version }),
          ),
      )
    isWriting = false
    await summing
    await sumUpAll(database)
    const summed = await answers()
    await service.sql`delete from rollup_sketches`
    await service.sql`delete from rollups`
    await service.sql`
      insert into rollup_marks (id, workspace_id, environment, dataset, level, block, due_at)
      select block, ${workspaceId}, 'production', 'incidents', 0, block, 'infinity' from (
        select distinct floor(extract(epoch from created_at) / 900)::integer as block from fact_incidents) b`
    expect(await answers()).toEqual(summed)
  })
})
