import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, type ApiRequest, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
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
  platform = await joinPlatform()
  api = apiClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
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
    await make('/tables/assets/records', { serial, site, owner: 'unknown@example.com', secret_note: 'psst' })
  app = (await make<Made>('/apps', { slug: 'register', name: 'Asset register' })).id
})
afterAll(async () => {
  await receiver?.stop()
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
/** Calls the running app, below the origin. */
async function running<T = unknown>(path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(
    `${new URL(platform.info.baseUrl).origin}/apps/${platform.info.workspace}/register/-/${path}`,
    {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${platform.info.apiKey}`,
        'x-workspace': platform.info.workspace,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    },
  )
  return { status: response.status, body: (await response.json()) as T }
}
const events = () => receiver.received().map(({ headers }) => String(headers['x-service-event']))

test('an app is built, deployed and used, and a webhook receives its deployment events', async () => {
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

interface Shown {
  rows?: Record<string, unknown>[]
  error?: { code: string }
}
interface Results {
  data: { results: Record<string, Shown> }
}

describe('a running app', () => {
  const all = { requests: [{ key: 'all', source: 'assets' }] }
  const shownTo = async (authorization: string, headers: Record<string, string> = {}) =>
    (await running<Results>('data', all, { authorization, ...headers })).body.data?.results.all
  const sessionAs = async (role: string, email: string) => {
    const invited = await make<{ id: string; invitation: { token: string } }>('/settings/users/invite', {
      email,
      role,
    })
    const accepted = { token: invited.invitation.token, name: role, password: 'correct horse battery staple' }
    const { accessToken } = await make<{ accessToken: string }>('/auth/invitations/accept', accepted)
    return { id: invited.id, bearer: `Bearer ${accessToken}` }
  }

  test('has the rights and the row rules of its user, until they are revoked', async () => {
    const agent = await sessionAs('agent', 'agent@example.com')
    expect((await shownTo(agent.bearer))?.rows).toEqual([])
    await make('/tables/assets/records', { serial: 'A-9', site: 'Ulm', owner: 'agent@example.com' })
    expect((await shownTo(agent.bearer))?.rows).toMatchObject([{ serial: 'A-9' }])
    await api('DELETE', `/settings/users/${agent.id}`)
    await waitFor(async () => (await running('data', all, { authorization: agent.bearer })).status === 403)
    // A viewer lacks apps:use.
    const viewer = await sessionAs('viewer', 'viewer@example.com')
    expect(await running('definition', undefined, { authorization: viewer.bearer })).toMatchObject({
      ...{ status: 403, body: { error: { code: 'insufficient_scope' } } },
    })
  })

  test('belongs to one environment, and is not accessible from another workspace', async () => {
    const owner = `Bearer ${platform.info.apiKey}`
    const staging = await running('definition', undefined, {
      authorization: owner,
      'x-environment': 'staging',
    })
    expect(staging.status).toBe(404)
    const other = await platform.another()
    // Neither with their own workspace, nor with the workspace of the URL.
    for (const workspace of [other.workspace, platform.info.workspace]) {
      const headers = { authorization: `Bearer ${other.apiKey}`, 'x-workspace': workspace }
      expect(await running('definition', undefined, headers)).toMatchObject({
        ...{ status: 403, body: { error: { code: 'workspace_forbidden' } } },
      })
    }
  })

  test('is embedded within the row filter of its token, until the token is revoked', async () => {
    const origins = ['https://portal.example.com']
    await make(`/apps/${app}/deploy`, { embeddable: true })
    const token = await make<{ id: string; token: string }>(`/apps/${app}/embed-token`, {
      ...{ origins, rowFilter: { site: 'Hamburg' } },
    })
    const guest = `Bearer ${token.token}`
    expect((await shownTo(guest))?.rows).toMatchObject([{ serial: 'A-2', site: 'Hamburg' }])
    const create = (values: object) =>
      running<{ data: { value: object } }>(
        'actions',
        { source: 'assets', operation: 'create', values },
        { authorization: guest },
      )
    expect((await create({ serial: 'A-5', site: 'Berlin' })).status).toBe(422)
    expect((await create({ serial: 'A-5' })).body.data.value).toMatchObject({
      serial: 'A-5',
      site: 'Hamburg',
    })
    // An embed token is not valid for anything else.
    const elsewhere = await api('GET', '/tables/assets/records', { headers: { authorization: guest } })
    expect(elsewhere.status).toBe(401)
    expect(
      (await running('definition', undefined, { authorization: guest, 'sec-fetch-site': 'cross-site' }))
        .status,
    ).toBe(403)
    await api('DELETE', `/apps/${app}/embed-tokens/${token.id}`)
    expect((await running('definition', undefined, { authorization: guest })).status).toBe(401)
  })

  test('returns 401 without a token', async () => {
    expect((await running('definition', undefined, { authorization: '' })).status).toBe(401)
    expect((await running('definition', undefined, { authorization: '', cookie: 'session=x' })).status).toBe(
      401,
    )
  })
})
