import { beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { apiClient, typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let ada: ReturnType<typeof typedClient>

beforeAll(async () => {
  platform = await joinPlatform()
  ada = typedClient(platform.info)
})

const report = async (query: object) => {
  const body = { name: 'Report', query: { measures: [], ...query } }
  const { data } = await ada.post('/analytics/reports', { body })
  return async (run: object = {}) =>
    (await ada.post('/analytics/reports/{id}/run', { params: { path: { id: data.id } }, body: run })).data
}

describe('analytics of platform data', () => {
  test('new incidents appear in a report and on a dashboard, and a waiting client receives the update', async () => {
    const path = { id: 'service-desk' }
    const data = async (query: { since?: string } = {}) =>
      (await ada.get('/analytics/dashboards/{id}/data', { params: { path, query } })).data
    const { since } = await data()
    // A poll that times out without a change is repeated.
    const waiting = waitFor(async () => (await data({ since })).since !== since)
    for (const severity of ['critical', 'critical', 'low'] as const)
      await ada.post('/itsm/incidents', { body: { title: 'Disk full', severity } })

    const run = await report({ dataset: 'incidents', measures: ['incidents'], dimensions: ['severity'] })
    const answer = await waitFor(async () => {
      const found = await run()
      return found.totals?.incidents === 3 && found
    })
    expect(answer.rows).toEqual([
      { severity: 'critical', incidents: 2 },
      { severity: 'low', incidents: 1 },
    ])
    await waiting
    const { widgets } = await data()
    expect(widgets.find(({ id }) => id === 'open')?.answer?.totals).toEqual({ open: 3 })
    expect(widgets.every(({ error }) => error === null)).toBe(true)
  })

  test('reports query tables and saved queries in the name of the caller', async () => {
    const columns = [
      { name: 'site', type: 'text' as const },
      { name: 'price', type: 'decimal' as const, precision: 10, scale: 2 },
    ]
    await ada.post('/tables', { body: { slug: 'assets', columns } })
    for (const [site, price] of [
      ['Berlin', '10.50'],
      ['Berlin', '4.50'],
      ['Oslo', '1.00'],
    ])
      await ada.post('/tables/{slug}/records', {
        params: { path: { slug: 'assets' } },
        body: { site, price },
      })

    const byTable = await report({
      table: 'assets',
      measures: ['count', 'sum:price', 'max:price'],
      dimensions: ['site'],
    })
    const expected = [
      { site: 'Berlin', count: 2, 'sum:price': 15, 'max:price': 10.5 },
      { site: 'Oslo', count: 1, 'sum:price': 1, 'max:price': 1 },
    ]
    const counted = await byTable()
    expect(counted.rows).toEqual(expected)
    expect(counted.totals).toEqual({ count: 3, 'sum:price': 16, 'max:price': 10.5 })

    const saved = {
      name: 'By site',
      sql: 'select site, sum(price)::float8 as total from assets group by 1 order by 1',
    }
    const { data: query } = await ada.post('/queries', { body: saved })
    const bySavedQuery = await report({ savedQuery: query.id })
    expect((await bySavedQuery()).rows).toEqual([
      { site: 'Berlin', total: 15 },
      { site: 'Oslo', total: 1 },
    ])
  })
})

interface Answered {
  data: { rows: Record<string, unknown>[]; totals: Record<string, number> | null }
}

describe('facts', () => {
  const api = () => apiClient(platform.info)
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await api()<{ data: { id: string } }>('POST', path, { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data.id
  }
  const count = async (dataset: string, measure: string, more: object = {}) => {
    const query = { dataset, measures: [measure], range: { last: 2, unit: 'day' }, ...more }
    const id = await make('/analytics/reports', { name: dataset, query })
    return async () => (await api()<Answered>('POST', `/analytics/reports/${id}/run`, { body: {} })).body.data
  }

  test('every dataset is listed and receives facts', async () => {
    const policy = { name: 'Soon', metric: 'resolution', goalsBy: 'all', goals: { all: 60 } }
    await make('/itsm/sla-policies', { ...policy, conditions: { category: 'counted' } })
    // No server listens there: failed deliveries are facts too.
    await make('/webhooks', { name: 'gone', url: 'https://127.0.0.1:44321/', events: ['change.created'] })
    await make('/itsm/incidents', { title: 'Disk full', category: 'counted' })
    await make('/itsm/changes', { title: 'New disk', type: 'normal' })
    await make('/itsm/problems', { title: 'Disks fill up' })
    const steps = [{ id: 'said', type: 'publish', topic: 'counted', eventType: 'said', payload: {} }]
    const workflow = await make('/workflows', { name: 'Counted', definition: { steps } })
    await make(`/workflows/${workflow}/publish`, { activate: true })
    await make(`/workflows/${workflow}/trigger`, { input: {} })
    const source = "import { artifact } from '@opsplane/sdk'\nexport default artifact(async () => 1)"
    const artifacts = [{ slug: 'counted', kind: 'workflow_action', source: 'counted.ts' }]
    const manifest = { format: 'opsplane.pack/1', name: 'counted', version: '1.0.0', artifacts }
    await make('/sdk/packs/install', { manifest, files: { 'counted.ts': source } })
    await make('/sdk/artifacts/counted/invoke', { input: {} })
    await make('/tables', { slug: 'counted', columns: [{ name: 'n', type: 'integer' }] })
    for (const n of [1, 2]) await make('/tables/counted/records', { n })

    const listed = (await ada.get('/analytics/datasets', { params: { query: { limit: 50 } } })).data
    const expected: Record<string, [string, number]> = {
      incidents: ['incidents', 1],
      changes: ['changes', 1],
      problems: ['problems', 1],
      sla_clocks: ['clocks', 1],
      runs: ['runs', 1],
      executions: ['executions', 1],
      deliveries: ['deliveries', 1],
      records: ['changes', 2],
      events: ['events', 1],
    }
    expect(listed.map(({ name }) => name)).toEqual(Object.keys(expected))
    for (const { name, dimensions, measures, timeFields } of listed) {
      const [measure = '', least = 0] = expected[name] ?? []
      expect(measures.map((each) => each.name)).toContain(measure)
      expect([dimensions.length > 0, timeFields[0]]).toEqual([true, 'createdAt'])
      const answer = await count(name, measure)
      await waitFor(async () => Number((await answer()).totals?.[measure]) >= least, {
        message: `${least} facts of ${name}`,
      })
    }
    const byTable = await count('records', 'changes', { dimensions: ['tableSlug'], grain: 'day' })
    const changesOfCounted = async () =>
      (await byTable()).rows
        .filter(({ tableSlug }) => tableSlug === 'counted')
        .reduce((sum, { changes }) => sum + Number(changes), 0)
    // The total over all tables may have reached 2 by facts of another table, so this waits for those of this table.
    await waitFor(async () => (await changesOfCounted()) >= 2, { message: '2 changes of counted' })
    expect(await changesOfCounted()).toBe(2)
  })

  test('records of a table are counted and exported by the row rules of the caller', async () => {
    const columns = [{ name: 'site', type: 'text' }]
    const rules = [{ role: 'agent', read: { site: 'Oslo' } }]
    await make('/tables', { slug: 'offices', columns, rules })
    for (const site of ['Oslo', 'Oslo', 'Berlin']) await make('/tables/offices/records', { site })
    const { workspace } = platform.info
    const invited = await ada.post('/settings/users/invite', {
      body: { email: `agent@${workspace}.example.com`, role: 'agent' },
    })
    const body = {
      token: invited.data.invitation?.token ?? '',
      name: 'Agent',
      password: 'a password of an agent',
    }
    const { accessToken } = (await ada.post('/auth/invitations/accept', { body })).data
    const agent = apiClient({ ...platform.info, apiKey: accessToken })

    const query = { table: 'offices', measures: ['count'], dimensions: ['site'] }
    const report = await make('/analytics/reports', { name: 'Offices', query })
    const run = async (client: ReturnType<typeof apiClient>) =>
      (await client<Answered>('POST', `/analytics/reports/${report}/run`, { body: {} })).body.data
    expect((await run(api())).totals).toEqual({ count: 3 })
    expect(await run(agent)).toMatchObject({ rows: [{ site: 'Oslo', count: 2 }], totals: { count: 2 } })

    const wanted = { format: 'ndjson', source: { records: { table: 'offices' } } }
    const made = await agent<{ data: { id: string } }>('POST', '/analytics/exports', { body: wanted })
    const path = `/analytics/exports/${made.body.data.id}`
    await waitFor(
      async () => (await agent<{ data: { status: string } }>('GET', path)).body.data.status === 'completed',
    )
    const link = await agent<{ data: { url: string } }>('GET', `${path}/download`)
    const lines = (await (await fetch(link.body.data.url)).text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).site)).toEqual(['Oslo', 'Oslo'])
  })
})
