import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, type ApiRequest, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver
let app: string

interface Data<T> {
  data: T
}
interface Made {
  id: string
  number: number
  live: boolean
}
interface Failure {
  error: { code: string; details: { code: string; params: Record<string, unknown> }[] }
}

beforeAll(async () => {
  cluster = await startTestCluster()
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => ({ status: 200 }),
  })
  await make('/webhooks', { name: 'deploys', url: `${receiver.url}/all`, events: ['deploy.*'] })
  await make('/tables', {
    slug: 'assets',
    columns: [
      { name: 'serial', type: 'text', nullable: false },
      { name: 'site', type: 'text' },
      { name: 'owner', type: 'text' },
      { name: 'secret_note', type: 'text' },
    ],
    rules: [{ role: 'agent', read: { owner: '$user.email' } }],
  })
  await make('/tables', { slug: 'salaries', columns: [{ name: 'amount', type: 'decimal' }] })
  for (const [serial, site] of [
    ['A-1', 'Berlin'],
    ['A-2', 'Hamburg'],
  ])
    await make('/tables/assets/records', { serial, site, owner: 'nobody@example.com', secret_note: 'psst' })
  app = (await make<Made>('/apps', { slug: 'register', name: 'Asset register' })).id
})
afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
})

async function make<T = { id: string }>(
  path: string,
  body: object,
  headers?: ApiRequest['headers'],
): Promise<T> {
  const answer = await api<Data<T>>('POST', path, { body, ...(headers && { headers }) })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}
/** Of the running app, below the origin. */
async function running<T = unknown>(path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(
    `${new URL(cluster.info.baseUrl).origin}/apps/${cluster.info.workspace}/register/-/${path}`,
    {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${cluster.info.apiKey}`,
        'x-workspace': cluster.info.workspace,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    },
  )
  return { status: response.status, body: (await response.json()) as T }
}
const events = () => receiver.received().map(({ headers }) => String(headers['x-service-event']))

test('an app is built, deployed and used, and its deployments arrive at a webhook', async () => {
  const source = {
    name: 'assets',
    binding: {
      ...{ kind: 'table', table: 'assets', operations: ['list', 'create'], fields: ['serial', 'site'] },
      ...{
        writable: ['serial', 'site'],
        values: { owner: '{{ user.email }}' },
        search: { site: '{{ params.site }}' },
      },
    },
    params: { site: { type: 'text' } },
  }
  await make(`/apps/${app}/data-sources`, { ...source, binding: { ...source.binding, fields: ['colour'] } })
  const page = {
    ...{ slug: 'all', title: 'All assets' },
    components: [{ type: 'table', label: 'Assets', source: 'assets', columns: [{ field: 'serial' }] }],
  }
  await make(`/apps/${app}/pages`, page)

  const refused = await api<Failure>('POST', `/apps/${app}/deploy`, { body: {} })
  expect(refused.status).toBe(422)
  expect(refused.body.error.details).toMatchObject([
    { code: 'unknown_column', params: { source: 'assets', path: '/binding/fields/0' } },
  ])
  await waitFor(() => events().includes('deploy.failed'))

  const { body } = await api<Data<Made[]>>('GET', `/apps/${app}/data-sources`)
  await api('PATCH', `/apps/${app}/data-sources/${body.data[0]?.id}`, { body: source })
  const deployed = await make<Made>(`/apps/${app}/deploy`, { note: 'First' })
  expect(deployed).toMatchObject({ number: 1, live: true })
  await waitFor(() => events().includes('deploy.completed'))

  expect((await running<Data<object>>('definition')).body.data).toMatchObject({
    app: { slug: 'register', environment: 'production', deployment: 1 },
    pages: [{ slug: 'all' }],
  })
  const made = await running<Data<object>>('actions', {
    ...{ source: 'assets', operation: 'create', values: { serial: 'A-3', site: 'Berlin' } },
  })
  expect(made.body.data).toMatchObject({ value: { serial: 'A-3', site: 'Berlin' } })
  const shown = await running<Data<{ results: Record<string, unknown> }>>('data', {
    requests: [
      { key: 'all', source: 'assets' },
      { key: 'berlin', source: 'assets', params: { site: 'Berlin' } },
      { key: 'other', source: 'salaries' },
    ],
  })
  expect(shown.body.data.results).toMatchObject({
    all: { rows: [{ serial: 'A-3' }, { serial: 'A-2' }, { serial: 'A-1' }] },
    berlin: { rows: [{ serial: 'A-3' }, { serial: 'A-1' }] },
    other: { error: { code: 'not_found' } },
  })
  expect(JSON.stringify(shown.body)).not.toContain('psst')
})

describe('used by others', () => {
  test('it does nothing without a token', async () => {
    expect((await running('definition', undefined, { authorization: '' })).status).toBe(401)
  })
})
