import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CiImpact, CiRelation, CiTopology, ConfigurationItem, relationTypes } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import {
  type ApiClient,
  seededRandom,
  startTestService,
  type TestService,
  testPrincipal,
} from '@opsplane/testing'
import { itsm } from '../../service.js'
import { maxScannedRows } from '../item/scanned-rows.fixture.js'
import { pastGraph } from './past-graph.js'

let service: TestService
let database: Database
beforeAll(async () => {
  service = await startTestService(itsm)
  database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

const minute = (at: number) => new Date(Date.UTC(2020, 2, 2, 9, at)).toISOString()

/** The answers of a workspace, now or at an instant. Nodes and edges are sorted here by id. */
async function answers(api: ApiClient, ids: string[], asOf?: string) {
  const at = asOf === undefined ? '' : `&asOf=${asOf}`
  const topology = async (query: string) => {
    const { nodes, edges, ...rest } = (await api.get(`/cmdb/topology?${query}${at}`)).data(CiTopology)
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
    return { nodes: nodes.sort(byId), edges: edges.sort(byId), ...rest }
  }
  const impact = async (path: string, body?: object) => {
    const whole = `${path}?${at.slice(1)}`
    const reply = await (body ? api.post(whole, body) : api.get(whole))
    const { slasAtRisk: _, slasTruncated: __, ...rest } = reply.data(CiImpact)
    return rest
  }
  const around = ids.flatMap((id) => [
    `around=${id}&depth=5`,
    `around=${id}&depth=2&direction=downstream&types=depends_on,contains`,
    `around=${id}&direction=upstream&limit=4`,
  ])
  return {
    found: await Promise.all(
      ['limit=1000', 'limit=3', 'types=depends_on,member_of', ...around].map(topology),
    ),
    impacts: await Promise.all([
      ...ids.map((id) => impact(`/cmdb/items/${id}/impact`)),
      ...(ids.length > 0 ? [impact('/cmdb/impact', { itemIds: ids })] : []),
    ]),
  }
}

/** Performs random allowed actions on the items and relations of a workspace. */
function actor(api: ApiClient, random: () => number) {
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)]
  const items: string[] = []
  const relations: string[] = []
  const record = async () => {
    const body = {
      class: pick(['service', 'server']),
      name: `item-${items.length}`,
      status: pick(['planned', 'operational']),
    }
    items.push((await api.post('/cmdb/items', body)).data(ConfigurationItem).id)
  }
  const relate = async () => {
    const type = random() < 0.7 ? 'depends_on' : pick(relationTypes)
    const reply = await api.post('/cmdb/relations', { sourceId: pick(items), targetId: pick(items), type })
    if (reply.status === 201) relations.push(reply.data(CiRelation).id)
  }
  const change = () => {
    const redundancy = random() < 0.5 ? {} : { depends_on: { minUp: 1 } }
    return api.patch(`/cmdb/items/${pick(items)}`, { name: `renamed ${random()}`, redundancy })
  }
  const move = () =>
    api.post(`/cmdb/items/${pick(items)}/${pick(['activate', 'fail', 'activate', 'retire'])}`)
  const acts = [
    ...[record, record, relate, relate, relate, change, move],
    () => api.send('DELETE', `/cmdb/items/${pick(items)}`),
    () => api.send('DELETE', `/cmdb/relations/${pick(relations)}`),
  ]
  return { items, act: async () => void (await (pick(acts) ?? record)()) }
}

describe('the graph as of a past instant', () => {
  it.each([1, 2, 3])('equals the responses recorded at that time (random seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const principal = testPrincipal()
    const api = service.as(principal)
    const { items, act } = actor(api, random)
    const others = [testPrincipal(), { ...principal, environment: 'staging' as const }]
    for (const other of others) {
      const elsewhere = actor(service.as(other), random)
      for (let at = 0; at < 10; at++) await elsewhere.act()
    }

    const then: { position: number; around: string[]; answered: Awaited<ReturnType<typeof answers>> }[] = []
    for (let step = 0; step < 6; step++) {
      for (let at = 0; at < 7; at++) await act()
      const there = (await api.get('/cmdb/items?limit=200')).page(ConfigurationItem).items.map(({ id }) => id)
      const around = items.filter((id) => there.includes(id)).slice(0, 2)
      const [last] = await service.sql<
        { position: number }[]
      >`select max(position)::int as position from events`
      then.push({ position: last?.position ?? 0, around, answered: await answers(api, around) })
    }
    // Gives each event a distinct instant, independent of the clock.
    await service.sql`update events set created_at = ${minute(0)}::timestamptz + position * interval '1 minute'`

    expect(new Set(then.map(({ answered }) => JSON.stringify(answered))).size).toBe(then.length)
    for (const { position, around, answered } of then)
      expect(await answers(api, around, minute(position))).toEqual(answered)
    const first = await answers(api, [], minute(-1))
    expect(first.found).toEqual(Array(3).fill({ nodes: [], edges: [], truncated: false, depth: null }))
  })

  it('is tested with every type of item and relation event', async () => {
    const rows = await service.sql<{ type: string }[]>`select distinct type from events`
    const made = ['ci.created', 'ci.deleted', 'ci.relation_added', 'ci.relation_removed', 'ci.retired']
    expect(rows.map(({ type }) => type)).toEqual(
      expect.arrayContaining([...made, 'ci.status_changed', 'ci.updated']),
    )
  })

  it('excludes an item before it was created and after it was deleted', async () => {
    const principal = testPrincipal()
    const api = service.as(principal)
    const { id } = (await api.post('/cmdb/items', { class: 'server', name: 'brief' })).data(ConfigurationItem)
    expect((await api.send('DELETE', `/cmdb/items/${id}`)).status).toBe(204)
    await service.sql`update events set created_at = ${minute(0)}::timestamptz + version * interval '1 minute'
      where stream_id = ${id}`
    const ask = (path: string, asOf: string) => api.get(`/cmdb/${path}asOf=${asOf}`)
    const asked = (asOf: string) => api.post(`/cmdb/impact?asOf=${asOf}`, { itemIds: [id] })
    for (const asOf of [minute(0), minute(2), '2999-01-01T00:00:00Z']) {
      expect((await ask(`topology?around=${id}&`, asOf)).error().code).toBe('not_found')
      expect((await ask(`items/${id}/impact?`, asOf)).error().code).toBe('not_found')
      expect((await asked(asOf)).error().details[0]).toMatchObject({
        path: '/itemIds/0',
        code: 'unknown_item',
      })
      expect((await ask('topology?', asOf)).data(CiTopology).nodes).toEqual([])
    }
    expect((await ask(`topology?around=${id}&`, minute(1))).data(CiTopology).nodes).toHaveLength(1)
    expect((await ask(`items/${id}/impact?`, minute(1))).data(CiImpact)).toEqual({
      ...{ failing: [id], affected: [], services: [], truncated: false },
    })
    expect((await asked(minute(1))).status).toBe(200)
    const stranger = service.as(testPrincipal())
    expect((await stranger.get(`/cmdb/items/${id}/impact?asOf=${minute(1)}`)).error().code).toBe('not_found')
    const staging = service.as({ ...principal, environment: 'staging' })
    expect((await staging.get(`/cmdb/topology?asOf=${minute(1)}`)).data(CiTopology).nodes).toEqual([])
  })
})

/**
 * Writes events only, which the past is built from. `rows` selects stream_id, version, minute and the resulting
 * state.
 */
const writeEvents = (workspaceId: string, streamType: string, rows: string) =>
  service.sql.unsafe(
    `insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
       created_at)
     select new_event_id(), $2::text, stream_id, version, 'ci.updated', $1::text, 'production', '{}', '{}',
       json_build_object('after', after), $3::text::timestamptz + minute * interval '1 minute'
     from (${rows}) written`,
    [workspaceId, streamType, minute(0)],
  )
const ciId = (n: number) => `ci_${String(n).padStart(26, '0')}`
const idSql = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`
/** One version of each item, `version` minutes after the beginning. */
const itemsOf = (from: number, to: number, version = 1) =>
  `select ${idSql('ci', 'n')} as stream_id, ${version} as version, ${version} as minute, json_build_object(
     'id', ${idSql('ci', 'n')}, 'name', 'n-' || n || '-${version}', 'class', 'server', 'status', 'operational',
     'criticality', 'low', 'redundancy', '{}'::json, 'createdAt', to_char(n, 'FM000000')) as after
   from generate_series(${from}, ${to}) n`
const goneOf = (from: number, to: number) =>
  `select ${idSql('ci', 'n')} as stream_id, 2 as version, 3 as minute, null::json as after
   from generate_series(${from}, ${to}) n`

describe('a large graph as of a past instant', () => {
  const principal = testPrincipal()
  const workspaceId = principal.workspaceId ?? ''

  it('is rejected if it had too many items, or if too many were deleted since', async () => {
    const api = service.as(principal)
    await writeEvents(workspaceId, 'configuration_items', itemsOf(1, 20_001))
    const nodes = async (asOf: string) => await api.get(`/cmdb/topology?limit=10000&asOf=${asOf}`)
    const refusal = { in: 'query', path: '/asOf', code: 'graph_too_large' }
    const refused = await nodes(minute(1))
    expect([refused.status, refused.error().details]).toMatchObject([422, [refusal]])

    await writeEvents(workspaceId, 'configuration_items', goneOf(1, 20_000))
    expect((await nodes(minute(2))).error().details).toMatchObject([refusal])
    expect((await nodes(minute(3))).data(CiTopology).nodes.map(({ id }) => id)).toEqual([ciId(20_001)])
    expect((await nodes(minute(0))).data(CiTopology).nodes).toEqual([])

    const later = itemsOf(30_001, 50_000).replace('1 as minute', '4 as minute')
    await writeEvents(workspaceId, 'configuration_items', later)
    expect((await nodes(minute(3))).data(CiTopology).nodes).toHaveLength(1)
    expect((await nodes(minute(4))).error().details).toMatchObject([refusal])
    const impact = await api.post(`/cmdb/impact?asOf=${minute(4)}`, { itemIds: [ciId(30_001)] })
    expect(impact.error().details).toMatchObject([refusal])
  })

  it('is read from only the events of each record', async () => {
    const mine = testPrincipal().workspaceId ?? ''
    const versions = [1, 2, 3].map((version) => itemsOf(60_001, 61_000, version)).join(' union all ')
    await writeEvents(mine, 'configuration_items', versions)
    await writeEvents(
      mine,
      'ci_relations',
      `select ${idSql('rel', 'n')} as stream_id, 1 as version, 1 as minute, json_build_object('id', ${idSql('rel', 'n')},
         'sourceId', ${idSql('ci', '60001 + n % 1000')}, 'targetId', ${idSql('ci', '60001 + n % 7')},
         'type', 'depends_on') as after
       from generate_series(1, 2000) n`,
    )
    await service.sql`analyze events`
    const tenant = { workspaceId: mine, environment: 'production' } as const
    for (const ask of ['graph', 'impactGraph'] as const) {
      const most = await maxScannedRows(service.sql, (sql) =>
        pastGraph({ sql, db: database.db }, tenant, minute(2))[ask](undefined),
      )
      // A dozen plan steps for each of 2,000 relations. Other workspaces have 60,000 events.
      expect(most).toBeLessThan(30_000)
    }
  })
})
