import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AppPage, Deployment, DeploymentDiff, DeploymentWithContents, EmbedToken } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { type AppsFixture, buildTable, type SourceBody, startApps } from './fixture/apps-fixture.js'

let fixture: AppsFixture
beforeAll(async () => {
  fixture = await startApps()
  fixture.platform.answers.getTable = ({ params: { slug } }) =>
    slug === 'assets'
      ? { data: buildTable('assets', 'serial', 'site', 'owner') }
      : { status: 404, code: 'not_found' }
})
afterAll(() => fixture?.stop())

const assets: SourceBody = { name: 'assets', binding: { kind: 'table', table: 'assets' } }

describe('a deployment', () => {
  it('pins pages, sources and schema, can be compared with another deployment, and can be restored by a rollback', async () => {
    const { api, platform } = fixture
    const app = await fixture.build([assets])
    const first = await fixture.deploy(app.id, { note: 'One' })
    expect(first).toMatchObject({
      ...{ number: 1, live: true, status: 'completed', pageCount: 1, sourceCount: 1, note: 'One' },
      permissions: ['records:read'],
      pinned: [{ source: 'assets', kind: 'table', name: 'assets', version: 3 }],
    })
    const [page] = (await api.get(`/apps/${app.id}/pages`)).page(AppPage).items
    await api.patch(`/apps/${app.id}/pages/${page?.id}`, { title: 'Changed' })
    const same = await fixture.person(app.slug).definition()
    expect(JSON.parse(same.text).data.pages[0].title).toBe('Home')

    const second = await fixture.deploy(app.id)
    expect(second).toMatchObject({ number: 2, live: true })
    const diff = await api.get(`/apps/${app.id}/deployments/1/diff/${second.id}`)
    expect(diff.data(DeploymentDiff)).toEqual({
      ...{ from: 1, to: 2 },
      changes: [{ path: '/pages/0/title', kind: 'changed', before: 'Home', after: 'Changed' }],
    })
    const back = (await api.post(`/apps/${app.id}/rollback`, { to: 1 })).data(Deployment)
    expect(back).toMatchObject({ number: 3, restores: 1, live: true, digest: first.digest })
    expect(JSON.parse((await fixture.person(app.slug).definition()).text).data).toMatchObject({
      ...{ app: { deployment: 3 }, pages: [{ title: 'Home' }] },
    })
    const listed = (await api.get(`/apps/${app.id}/deployments`)).page(Deployment).items
    expect(listed.map(({ number, live }) => [number, live])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ])
    const whole = (await api.get(`/apps/${app.id}/deployments/2`)).data(DeploymentWithContents)
    expect(whole.contents.pages[0]?.title).toBe('Changed')
    expect((await api.post(`/apps/${app.id}/rollback`, { to: 9 })).status).toBe(404)
    // One standing grant for each deployment; only the grant of the live deployment has not been revoked.
    const standing = platform.granted.filter(({ expiresInSeconds }) => expiresInSeconds === null)
    expect(standing.map(({ permissions }) => permissions)).toEqual(Array(3).fill(['records:read']))
    expect(platform.revoked).toHaveLength(2)
  })

  it('is of one environment, and not found in another', async () => {
    const { service, principal } = fixture
    const app = await fixture.build([])
    const staging = { ...principal, environment: 'staging' as const }
    const made = (await service.as(staging).post(`/apps/${app.id}/deploy`, {})).data(Deployment)
    expect(made).toMatchObject({ number: 1, environment: 'staging' })
    expect((await fixture.person(app.slug).definition()).status).toBe(404)
    expect((await fixture.person(app.slug, staging).definition()).status).toBe(200)
    expect((await fixture.api.get(`/apps/${app.id}/deployments/${made.id}`)).status).toBe(404)
  })

  it('is numbered without gaps when several are deployed concurrently', async () => {
    const app = await fixture.build([])
    const made = await Promise.all([1, 2, 3, 4].map(() => fixture.deploy(app.id)))
    expect(made.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4])
  })

  it('never changes, even when the pages it was created from are deleted', async () => {
    const { service, api } = fixture
    const app = await fixture.build([assets])
    const { id } = await fixture.deploy(app.id)
    await expect(service.sql`update deployment_contents set version = 2 where id = ${id}`).rejects.toThrow(
      'never changes',
    )
    const [page] = (await api.get(`/apps/${app.id}/pages`)).page(AppPage).items
    await api.send('DELETE', `/apps/${app.id}/pages/${page?.id}`)
    expect((await fixture.person(app.slug).definition()).status).toBe(200)
    expect((await api.post(`/apps/${app.id}/deploy`, {})).error().details).toMatchObject([
      { code: 'no_pages' },
    ])
    await api.send('DELETE', `/apps/${app.id}`)
    expect((await fixture.person(app.slug).definition()).status).toBe(404)
  })

  it('reports every missing reference and permission, and records only the failure', async () => {
    const { api, platform, service, principal } = fixture
    const at = '2026-03-01T10:00:00.000Z'
    platform.answers.listConnectors = () => ({
      data: [
        {
          ...{
            id: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
            name: 'billing',
            kind: 'http',
            description: '',
            config: {},
          },
          ...{ enabled: false, retry: { attempts: 1, delayMs: 10, maxDelayMs: 10 }, timeoutMs: 1_000 },
          ...{ ownerId: 'usr_1', status: 'up', statusChangedAt: null, lastError: null },
          ...{ createdAt: at, updatedAt: at, version: 1 },
        },
      ],
    })
    platform.answers.listConnectorActions = () => ({ data: [] })
    platform.answers.listQueries = () => ({ data: [] })
    const app = await fixture.build(
      [
        {
          name: 'assets',
          binding: {
            ...{ kind: 'table', table: 'assets', fields: ['colour'], operations: ['list', 'update'] },
            ...{ writable: ['id'], filter: { 'site.town': 'x' }, sort: '-age' },
          },
        },
        { name: 'ghosts', binding: { kind: 'table', table: 'ghosts' } },
        { name: 'bills', binding: { kind: 'connector', connector: 'billing', action: 'get' } },
        { name: 'sums', binding: { kind: 'query', query: 'Sums' } },
      ],
      [
        {
          slug: 'a',
          title: 'A',
          components: [{ type: 'detail', label: 'D', source: 'x', fields: [{ field: 'y' }] }],
        },
      ],
    )
    const poor = service.as({ ...principal, permissions: ['apps:deploy', 'records:read'] })
    const refused = (await poor.post(`/apps/${app.id}/deploy`, {})).error()
    expect(refused.code).toBe('validation_failed')
    expect(
      refused.details.map(({ code, params = {} }) => [code, params.page ?? params.source, params.path]),
    ).toEqual([
      ['unknown_source', 'a', '/components/0/source'],
      ['permission_not_held', 'assets', '/binding'],
      ['unknown_column', 'assets', '/binding/fields/0'],
      ['unknown_column', 'assets', '/binding/filter/site.town'],
      ['unknown_column', 'assets', '/binding/sort'],
      ['unknown_column', 'assets', '/binding/writable/0'],
      ['permission_not_held', 'bills', '/binding'],
      ['disabled', 'bills', '/binding/connector'],
      ['unknown_action', 'bills', '/binding/action'],
      ['unknown_table', 'ghosts', '/binding/table'],
      ['unknown_query', 'sums', '/binding/query'],
    ])
    const [failed] = (await api.get(`/apps/${app.id}/deployments`)).page(Deployment).items
    expect(failed).toMatchObject({ status: 'failed', number: null, live: false })
    expect(failed?.problems).toHaveLength(11)
    expect((await fixture.person(app.slug).definition()).status).toBe(404)
    const events = await service.sql`select type from events where resource->>'id' = ${failed?.id ?? ''}`
    expect(events.map(({ type }) => type)).toEqual(['deploy.failed'])
  })

  it("requires the permission for a report's dataset, and allows write queries only as actions", async () => {
    const { platform, service, principal } = fixture
    const times = { createdAt: '2026-03-01T10:00:00.000Z', updatedAt: '2026-03-01T10:00:00.000Z' }
    platform.answers.listReports = () => ({
      data: [
        {
          ...{
            id: 'rpt_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
            name: 'By team',
            description: '',
            version: 2,
            ownerId: 'usr_1',
          },
          ...{ query: { dataset: 'incidents', measures: ['incidents'] }, ...times },
          parameters: [{ name: 'severity', type: 'text', required: true, description: '' }],
        },
      ],
    })
    platform.answers.listDatasets = () => ({
      data: [
        {
          ...{ name: 'incidents', label: 'Incidents', description: '', permission: 'itsm:read' },
          ...{ dimensions: [], measures: [], timeFields: [], columns: [] },
        },
      ],
    })
    platform.answers.listQueries = () => ({
      data: [
        {
          ...{
            id: 'qry_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
            name: 'Tidy',
            description: '',
            mode: 'write',
            version: 1,
          },
          ...{ sql: 'delete from x', parameters: [], ...times },
        },
      ],
    })
    const report = { kind: 'report' as const, report: 'By team' }
    const app = await fixture.build([
      { name: 'teams', binding: { ...report, input: { team: 'x' } } },
      { name: 'tidy', binding: { kind: 'query', query: 'Tidy' } },
    ])
    const permissions = ['apps:deploy', 'analytics:read', 'queries:run', 'queries:write'] as const
    const poor = service.as({ ...principal, permissions: [...permissions] })
    const { details } = (await poor.post(`/apps/${app.id}/deploy`, {})).error()
    expect(details.map(({ code, params = {} }) => [code, params.source, params.path])).toEqual([
      ['permission_not_held', 'teams', '/binding'],
      ['unknown_parameter', 'teams', '/binding/input/team'],
      ['required', 'teams', '/binding/input/severity'],
      ['writes', 'tidy', '/binding/use'],
    ])
    const sound = await fixture.build([
      { name: 'teams', binding: { ...report, input: { severity: 'high' } } },
      { name: 'tidy', binding: { kind: 'query', query: 'Tidy', use: 'action' } },
    ])
    expect((await fixture.deploy(sound.id)).permissions).toEqual([
      ...['itsm:read', 'queries:run', 'queries:write', 'analytics:read'],
    ])
    expect(await fixture.person(sound.slug).data('tidy')).toMatchObject({ error: { code: 'forbidden' } })
  })

  it('is neither created nor recorded as failed while a service it checks is unavailable', async () => {
    const { platform, api } = fixture
    const { getTable = () => ({ status: 404, code: 'not_found' }) } = platform.answers
    const app = await fixture.build([assets])
    platform.answers.getTable = () => ({ status: 503, code: 'service_unavailable' })
    expect((await api.post(`/apps/${app.id}/deploy`, {})).status).toBe(503)
    platform.answers.getTable = getTable
    expect((await api.get(`/apps/${app.id}/deployments`)).page(Deployment).items).toEqual([])
  })
})

describe('an embed token', () => {
  it('can be created only for an embeddable deployment, listed and revoked', async () => {
    const { api, platform } = fixture
    const app = await fixture.build([assets])
    const wanted = { origins: ['https://portal.example.com'] }
    const make = (body: object = wanted) => api.post(`/apps/${app.id}/embed-token`, body)
    expect((await make()).error().code).toBe('conflict')
    await fixture.deploy(app.id)
    expect((await make()).error().code).toBe('conflict')
    await fixture.deploy(app.id, { embeddable: true })
    const standing = platform.granted.at(-1)
    expect(standing).toMatchObject({ expiresInSeconds: null, permissions: ['records:read'] })

    expect((await make({ ...wanted, exempt: ['ghosts'] })).error().details).toMatchObject([
      { path: '/exempt/0' },
    ])
    for (const origin of [
      '*',
      'https://*.example.com',
      'https://a.example/x',
      "https://a.example; script-src 'x'",
      'data:x',
    ])
      expect((await make({ origins: [origin] })).error().details).toMatchObject([{ path: '/origins/0' }])
    const { token, path, ...created } = await fixture.embedToken(app.id)
    expect(token.split('.')).toHaveLength(3)
    expect(path).toBe(`/apps/acme/${app.slug}?embed=${created.id}#token=${token}`)
    const listed = (await api.get(`/apps/${app.id}/embed-tokens`)).page(EmbedToken).items
    expect(listed).toEqual([created])
    expect((await api.send('DELETE', `/apps/${app.id}/embed-tokens/${created.id}`)).status).toBe(204)
    const found = await api.get(`/apps/${app.id}/embed-tokens/${created.id}`)
    expect(found.data(EmbedToken).revokedAt).not.toBeNull()
    // The next deployment replaces it: the grant of the previous deployment is revoked.
    await fixture.deploy(app.id)
    expect(platform.revoked.at(-1)).toBe(
      `grant-${platform.granted.indexOf(standing ?? { run: '', expiresInSeconds: 1 }) + 1}`,
    )
  })
})

it('rebuilds the same read models from the events', async () => {
  const { service } = fixture
  const rows = async () => [
    await service.sql`select * from apps order by id`,
    await service.sql`select * from app_pages order by id`,
    await service.sql`select * from data_sources order by id`,
    await service.sql`select * from deployments order by id`,
    await service.sql`select * from deployment_contents order by id`,
    await service.sql`select * from embed_tokens order by id`,
  ]
  const before = await rows()
  expect(before.every((table) => table.length > 0)).toBe(true)
  await service.rebuild()
  expect(await rows()).toEqual(before)
})

it('deletes embed tokens one month after their expiry, not earlier', async () => {
  const { service } = fixture
  const app = await fixture.build([assets])
  await fixture.deploy(app.id, { embeddable: true })
  const [old, recent] = [await fixture.embedToken(app.id), await fixture.embedToken(app.id)]
  const expire = (
    id: string,
    days: number,
  ) => service.sql`update embed_tokens set state = jsonb_set(state::jsonb,
    '{expiresAt}', to_jsonb(${new Date(Date.now() - days * 86_400_000).toISOString()}::text))::json where id = ${id}`
  await expire(old.id, 31)
  await expire(recent.id, 29)
  // The purge runs when a replica starts, and every day.
  const replica = await service.replica()
  const there = async () =>
    (await fixture.api.get(`/apps/${app.id}/embed-tokens`)).page(EmbedToken).items.map(({ id }) => id)
  await waitFor(async () => !(await there()).includes(old.id))
  expect(await there()).toEqual([recent.id])
  await replica.stop()
})
