import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

/** Tests the data of dashboards and running apps, through the gateway, produced by the real services. */

/** The files for browsers, as listed by the bundler. */
const builtFiles = new URL('../../services/apps/web/bundle/assets.json', import.meta.url)

let platform: SharedPlatform
let ada: ReturnType<typeof typedClient>
let receiver: Receiver
let workflow: string

beforeAll(async () => {
  platform = await joinPlatform()
  ada = typedClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
    respond: ({ path }) => ({ status: path === '/refuses' ? 410 : 200, body: '{"received":true}' }),
  })
  const definition = {
    steps: [{ id: 'sum', type: 'transform' as const, value: '{{ input.n * 2 }}' }],
    output: '{{ steps.sum.output }}',
  }
  workflow = (await ada.post('/workflows', { body: { name: 'Doubles', definition } })).data.id
  const params = { path: { id: workflow } }
  await ada.post('/workflows/{id}/publish', { params, body: { activate: true } })
})
afterAll(() => receiver?.stop())

const dashboard = async (id: string, since?: string) =>
  (
    await ada.get('/analytics/dashboards/{id}/data', {
      params: { path: { id }, query: { ...(since !== undefined && { since }) } },
    })
  ).data

/** Waits for the next state: a poll that times out without a change is repeated. */
async function after(id: string, { since }: { since: string }) {
  for (;;) {
    const answer = await dashboard(id, since)
    if (answer.since !== since) return answer
  }
}

describe('a dashboard', () => {
  const totals = async (id: string, widget: string) => {
    const { widgets } = await dashboard(id)
    expect(widgets.map(({ error }) => error)).toEqual(widgets.map(() => null))
    return widgets.find((each) => each.id === widget)?.answer?.totals
  }
  const rows = async (id: string, widget: string) =>
    (await dashboard(id)).widgets.find((each) => each.id === widget)?.answer?.rows

  test('shows succeeded and failed webhook deliveries', async () => {
    const before = await dashboard('deliveries')
    const events = ['incident.created']
    for (const path of ['hook', 'refuses'])
      await ada.post('/webhooks', {
        body: { name: path, url: `${receiver.url}/${path}`, events, retries: 0 },
      })
    const waiting = after('deliveries', before)
    await ada.post('/itsm/incidents', { body: { title: 'Disk full' } })
    await waitFor(async () => (await totals('deliveries', 'by_day'))?.failed === 1)
    await waitFor(async () => (await totals('deliveries', 'by_day'))?.succeeded === 1)
    await waiting
    expect(await totals('deliveries', 'deliveries')).toMatchObject({ deliveries: 2 })
    expect(await rows('deliveries', 'hosts')).toMatchObject([{ host: '127.0.0.1', deliveries: 2, failed: 1 }])
    expect(await rows('deliveries', 'events')).toMatchObject([
      { eventType: 'incident.created', deliveries: 2 },
    ])
  })

  test('shows workflow runs and artifact executions, including failed ones', async () => {
    const artifact = (slug: string) => ({ slug, kind: 'workflow_action' as const, source: `${slug}.js` })
    const manifest = {
      ...{ format: 'opsplane.pack/1' as const, name: 'feeds', version: '1.0.0' },
      artifacts: [artifact('works'), artifact('fails')],
    }
    const files = {
      'works.js': 'export default () => 1',
      'fails.js': 'export default () => { throw new Error("no luck") }',
    }
    await ada.post('/sdk/packs/install', { body: { manifest, files } })
    for (const id of ['works', 'works', 'fails'])
      await ada.post('/sdk/artifacts/{id}/invoke', { params: { path: { id } }, body: {} })
    const params = { path: { id: workflow }, query: { wait: 20 } }
    await ada.post('/workflows/{id}/trigger', { params, body: { input: { n: 21 } } })

    await waitFor(async () => (await totals('automation', 'executions'))?.executions === 3)
    await waitFor(async () => (await totals('automation', 'runs'))?.runs === 1)
    expect(await rows('automation', 'artifacts')).toMatchObject([
      { artifactSlug: 'works', executions: 2, failures: 0 },
      { artifactSlug: 'fails', executions: 1, failures: 1 },
    ])
    expect(await rows('automation', 'workflows')).toMatchObject([{ workflowName: 'Doubles', runs: 1 }])
  })

  test('created by the user shows each widget, with an error only in the invalid one', async () => {
    const query = { dataset: 'incidents', measures: ['incidents'] }
    const widget = (id: string, more: object) => ({ id, title: id, kind: 'metric' as const, ...more })
    const body = {
      name: 'Mine',
      widgets: [
        widget('count', { query }),
        widget('gone', { query: { table: 'nowhere', measures: ['count'] } }),
      ],
    }
    const { data } = await ada.post('/analytics/dashboards', { body })
    // The facts about deliveries do not indicate that the facts about their incident exist.
    await waitFor(async () => {
      const { widgets } = await dashboard(data.id)
      expect(widgets.find(({ id }) => id === 'count')).toMatchObject({
        error: null,
        answer: { totals: { incidents: 1 } },
      })
      expect(widgets.find(({ id }) => id === 'gone')).toMatchObject({
        answer: null,
        error: { code: expect.any(String) },
      })
      return true
    })
  })
})

interface Fed {
  rows: Record<string, unknown>[] | null
  value: unknown
  error?: { code: string }
}

describe('a running app', () => {
  const running = async <Answer>(path: string, body: object): Promise<Answer> => {
    const { origin } = new URL(platform.info.baseUrl)
    const { workspace, apiKey } = platform.info
    const response = await fetch(`${origin}/apps/${workspace}/feeds/-/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'x-workspace': workspace,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { data: Answer }).data
  }

  test('reads tables, saved queries, connectors, workflows and reports in one request, each with its own result', async () => {
    await ada.post('/tables', {
      body: {
        slug: 'assets',
        columns: [
          { name: 'site', type: 'text' },
          { name: 'price', type: 'integer' },
        ],
      },
    })
    for (const [site, price] of [
      ['Berlin', 10],
      ['Oslo', 1],
    ] as const)
      await ada.post('/tables/{slug}/records', {
        params: { path: { slug: 'assets' } },
        body: { site, price },
      })
    const sql = 'select site, sum(price)::int as total from assets where site = :site group by 1'
    await ada.post('/queries', {
      body: { name: 'By site', sql, parameters: [{ name: 'site', type: 'text' }] },
    })
    await ada.post('/analytics/reports', {
      body: { name: 'Sites', query: { table: 'assets', measures: ['count'], dimensions: ['site'] } },
    })
    await ada.post('/connectors', {
      body: { name: 'billing', kind: 'http', config: { baseUrl: `${receiver.url}/api` } },
    })
    const { data: app } = await ada.post('/apps', { body: { slug: 'feeds', name: 'Feeds' } })
    const site = { site: { type: 'text' as const, required: true } }
    const number = { n: { type: 'integer' as const, required: true } }
    const sources = [
      {
        name: 'assets',
        binding: { kind: 'table' as const, table: 'assets', search: { site: '{{ params.site }}' } },
        params: { site: { type: 'text' as const } },
      },
      {
        name: 'sums',
        binding: { kind: 'query' as const, query: 'By site', input: { site: '{{ params.site }}' } },
        params: site,
      },
      { name: 'sites', binding: { kind: 'report' as const, report: 'Sites' } },
      {
        name: 'bill',
        binding: { kind: 'connector' as const, connector: 'billing', action: 'get', use: 'data' as const },
      },
      {
        name: 'double',
        binding: {
          kind: 'workflow' as const,
          workflow: 'Doubles',
          waitSeconds: 20,
          use: 'data' as const,
          input: { n: '{{ params.n }}' },
        },
        params: number,
      },
    ]
    const params = { path: { id: app.id } }
    for (const body of sources) await ada.post('/apps/{id}/data-sources', { params, body })
    await ada.post('/apps/{id}/pages', {
      params,
      body: { slug: 'home', title: 'Home', components: [{ type: 'text', value: 'Hi' }] },
    })
    await ada.post('/apps/{id}/deploy', { params, body: {} })

    const requests = [
      { key: 'all', source: 'assets' },
      { key: 'oslo', source: 'assets', params: { site: 'Oslo' } },
      { key: 'sums', source: 'sums', params: { site: 'Berlin' } },
      { key: 'sites', source: 'sites' },
      { key: 'bill', source: 'bill' },
      { key: 'double', source: 'double', params: { n: 21 } },
      { key: 'none', source: 'salaries' },
      { key: 'wrong', source: 'double', params: { n: 'x' } },
    ]
    const { results } = await running<{ results: Record<string, Fed> }>('data', { requests })
    expect(results).toMatchObject({
      all: { rows: [{ site: 'Oslo' }, { site: 'Berlin' }] },
      oslo: { rows: [{ site: 'Oslo', price: 1 }] },
      sums: { rows: [{ site: 'Berlin', total: 10 }] },
      sites: {
        rows: [
          { site: 'Berlin', count: 1 },
          { site: 'Oslo', count: 1 },
        ],
      },
      bill: { value: { status: 200 } },
      double: { value: { ended: true, output: 42 } },
      none: { error: { code: 'not_found' } },
      wrong: { error: { code: 'validation_failed' } },
    })
    expect(results.oslo?.rows).toHaveLength(1)
  })

  test('loads less than 200 KB of compressed files', async () => {
    const { origin } = new URL(platform.info.baseUrl)
    const { files } = JSON.parse(readFileSync(builtFiles, 'utf8')) as { files: string[] }
    const headers = { 'accept-encoding': 'gzip' }
    const sizes = await Promise.all(
      files.map(async (file) => {
        const answer = await fetch(`${origin}/apps/-/assets/${file}`, { method: 'HEAD', headers })
        expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip'])
        return Number(answer.headers.get('content-length'))
      }),
    )
    const page = await (await fetch(`${origin}/apps/${platform.info.workspace}/feeds`)).text()
    for (const [, file = ''] of page.matchAll(/\/-\/assets\/([\w.-]+)/g)) expect(files).toContain(file)
    expect(sizes.length).toBeGreaterThan(1)
    expect(page.length + sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200 * 1_024)
  })
})
