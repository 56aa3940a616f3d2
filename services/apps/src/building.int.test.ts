import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { App, AppPage, AppPageWithProblems, DataSource, DataSourceWithProblems } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
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
const text = (value: string) => ({ type: 'text', value })

describe('an app', () => {
  it('can be created, read, listed, updated and archived in every environment', async () => {
    const { api, service, principal } = fixture
    const made = (await api.post('/apps', { slug: 'register', name: 'Register' })).data(App)
    expect(made).toMatchObject({ slug: 'register', description: '', status: 'active', version: 1 })
    const staging = service.as({ ...principal, environment: 'staging' })
    expect((await staging.get(`/apps/${made.id}`)).data(App)).toEqual(made)
    const renamed = (await staging.patch(`/apps/${made.id}`, { name: 'Assets' })).data(App)
    expect(renamed).toMatchObject({ name: 'Assets', version: 2 })
    expect((await api.patch(`/apps/${made.id}`, { name: 'Assets' })).data(App)).toEqual(renamed)
    expect((await api.get('/apps')).page(App).items).toContainEqual(renamed)

    const taken = await api.post('/apps', { slug: 'register', name: 'Other' })
    expect(taken.error()).toMatchObject({
      code: 'conflict',
      details: [{ path: '/slug', code: 'not_unique' }],
    })
    expect((await api.send('DELETE', `/apps/${made.id}`)).status).toBe(204)
    expect((await api.get(`/apps/${made.id}`)).data(App).status).toBe('archived')
    expect((await api.patch(`/apps/${made.id}`, { name: 'B' })).error().code).toBe('invalid_state_transition')
    expect((await api.post(`/apps/${made.id}/pages`, { slug: 'a', title: 'A' })).status).toBe(409)
    // The slug of the archived app is free again.
    expect((await api.post('/apps', { slug: 'register', name: 'Other' })).status).toBe(201)
    const archived = (await api.get('/apps?status=archived')).page(App).items
    expect(archived.map(({ id }) => id)).toEqual([made.id])
  })

  it('is not seen from another workspace, nor are its parts found under the id of another app', async () => {
    const { api, service } = fixture
    const [app, other] = [await fixture.build([assets]), await fixture.build([])]
    const [page] = (await api.get(`/apps/${app.id}/pages`)).page(AppPage).items
    const [source] = (await api.get(`/apps/${app.id}/data-sources`)).page(DataSource).items
    const stranger = service.as(testPrincipal())
    for (const path of ['', '/pages', `/pages/${page?.id}`, `/data-sources/${source?.id}`, '/deployments'])
      expect((await stranger.get(`/apps/${app.id}${path}`)).status).toBe(404)
    for (const path of [`/pages/${page?.id}`, `/data-sources/${source?.id}`]) {
      expect((await api.get(`/apps/${other.id}${path}`)).status).toBe(404)
      expect((await api.send('DELETE', `/apps/${other.id}${path}`)).status).toBe(404)
    }
  })

  it('can be created only with apps:write, and deployed or embedded only with apps:deploy', async () => {
    const { service, principal } = fixture
    const app = await fixture.build([])
    const reader = service.as({ ...principal, permissions: ['apps:read', 'apps:use'] })
    expect((await reader.post('/apps', { slug: 'x', name: 'X' })).error().code).toBe('insufficient_scope')
    const writer = service.as({ ...principal, permissions: ['apps:write'] })
    expect((await writer.post(`/apps/${app.id}/deploy`, {})).error().code).toBe('insufficient_scope')
    const origins = { origins: ['https://a.example'] }
    expect((await writer.post(`/apps/${app.id}/embed-token`, origins)).error().code).toBe(
      'insufficient_scope',
    )
  })
})

describe('a page', () => {
  it('is saved with references to missing sources, inputs and pages, and reports them until they exist', async () => {
    const { api } = fixture
    const app = await fixture.build([], [])
    const components = [
      { type: 'table', label: 'T', source: 'assets', columns: [{ field: 'serial' }] },
      { type: 'container', children: [text('{{ data.assets.rows[0].x & inputs.unknown }}')] },
      { type: 'button', label: 'Go', action: { then: { page: 'other', refresh: ['gone'] } } },
    ]
    const made = (await api.post(`/apps/${app.id}/pages`, { slug: 'all', title: 'All', components })).data(
      AppPageWithProblems,
    )
    expect(made.problems.map(({ path, code }) => [path, code])).toEqual([
      ['/components/0/source', 'unknown_source'],
      ['/components/2/action/then/refresh/0', 'unknown_source'],
      ['/components/2/action/then/page', 'unknown_page'],
      ['/components/1/children/0/value', 'unknown_source'],
      ['/components/1/children/0/value', 'unknown_input'],
    ])
    await api.post(`/apps/${app.id}/data-sources`, assets)
    const later = (await api.get(`/apps/${app.id}/pages/${made.id}`)).data(AppPageWithProblems)
    expect(later.problems).toHaveLength(3)
    const patched = await api.patch(`/apps/${app.id}/pages/${made.id}`, { components: [text('Hi')] })
    expect(patched.data(AppPageWithProblems)).toMatchObject({ problems: [], version: 2 })
    expect((await api.post(`/apps/${app.id}/pages`, { slug: 'all', title: 'B' })).error().code).toBe(
      'conflict',
    )
    expect((await api.send('DELETE', `/apps/${app.id}/pages/${made.id}`)).status).toBe(204)
  })

  const nested = (depth: number): object =>
    depth === 0 ? text('x') : { type: 'container', children: [nested(depth - 1)] }
  it.each([
    ['an expression that is none', [text('{{ 1 + }}')], '/components/0/value'],
    ['an unknown function', [text('{{ $shell("ls") }}')], '/components/0/value'],
    [
      'two components of one id',
      [
        { ...text('a'), id: 'a' },
        { ...text('b'), id: 'a' },
      ],
      '/components/1/id',
    ],
    ['a component of no kind', [{ type: 'iframe', src: 'https://evil.example' }], '/components/0/type'],
    ['a field that is none', [{ ...text('a'), html: '<script>' }], '/components/0/html'],
    ['components too deep', [nested(8)], '/components'],
    [
      'too many components',
      Array.from({ length: 6 }, () => ({ type: 'container', children: Array(99).fill(text('x')) })),
      '/components',
    ],
    ['a page too long', Array.from({ length: 9 }, () => text('x'.repeat(9_000))), '/components'],
  ])('is not saved with %s', async (_why, components, path) => {
    const app = await fixture.build([], [])
    const refused = await fixture.api.post(`/apps/${app.id}/pages`, { slug: 'a', title: 'A', components })
    expect(refused.error()).toMatchObject({ code: 'validation_failed', details: [{ path }] })
  })
})

describe('a data source', () => {
  it.each([
    ['an expression that is none', { filter: { site: '{{ params. }}' } }, '/binding/filter/site'],
    ['an undeclared parameter', { filter: { site: '{{ params.town }}' } }, '/binding/filter/site'],
    ['an unknown name', { values: { site: '{{ window.top }}' } }, '/binding/values'],
    ['a secret', { values: { site: '{{secrets.token}}' } }, '/binding/values'],
    ['alternatives in its filter', { filter: { or: 'x' } }, '/binding/filter/or'],
    ['an operation twice', { operations: ['list', 'list'] }, '/binding/operations'],
    ['an unknown operator', { filter: { site: { like: 'x' } } }, '/binding/filter/site'],
  ])('is not saved with %s', async (_why, binding, path) => {
    const app = await fixture.build([], [])
    const source = { name: 'a', binding: { kind: 'table', table: 'assets', ...binding } }
    const refused = await fixture.api.post(`/apps/${app.id}/data-sources`, source)
    expect(refused.error()).toMatchObject({ code: 'validation_failed' })
    expect(refused.error().details.map((each) => each.path)).toContain(path)
  })

  it('reports the problems that prevent its deployment when it is saved, and none once they are fixed', async () => {
    const { api, platform, principal, service } = fixture
    const app = await fixture.build([])
    const path = `/apps/${app.id}/data-sources`
    const binding = { kind: 'table', table: 'assets', fields: ['serial', 'color'], sort: 'prize' }
    const made = (await api.post(path, { name: 'a', binding })).data(DataSourceWithProblems)
    expect(made.problems).toEqual([
      { path: '/binding/fields/1', code: 'unknown_column', message: 'the table has no column color' },
      { path: '/binding/sort', code: 'unknown_column', message: 'the table has no column prize' },
    ])
    const failed = (await api.post(`/apps/${app.id}/deploy`, {})).error()
    expect(failed.details.map(({ code, message }) => [code, message])).toEqual(
      made.problems.map(({ code, message }) => [code, message]),
    )
    const patch = async (body: object, client = api) =>
      (await client.patch(`${path}/${made.id}`, body)).data(DataSourceWithProblems)
    expect((await patch({ binding: { kind: 'table', table: 'gone' } })).problems).toMatchObject([
      { path: '/binding/table', code: 'unknown_table' },
    ])
    const writer = service.as({ ...principal, permissions: ['apps:write'] })
    const sound = { binding: { kind: 'table', table: 'assets' } }
    expect((await patch(sound, writer)).problems).toMatchObject([
      { path: '/binding', code: 'permission_not_held' },
    ])
    expect(await patch({ ...sound, name: 'b' })).toMatchObject({ name: 'b', problems: [] })
    const { getTable } = platform.answers
    platform.answers.getTable = () => ({ status: 503, code: 'service_unavailable' })
    expect(await patch({ ...sound, name: 'c' })).toMatchObject({
      name: 'c',
      problems: [{ path: '/binding', code: 'not_checked' }],
    })
    if (getTable) platform.answers.getTable = getTable
  })

  it('is validated with the changes of a patch applied', async () => {
    const { api } = fixture
    const app = await fixture.build([
      {
        ...assets,
        binding: { kind: 'table', table: 'assets', filter: { site: '{{ params.site }}' } },
        params: { site: { type: 'text' } },
      },
    ])
    const [source] = (await api.get(`/apps/${app.id}/data-sources`)).page(DataSource).items
    const path = `/apps/${app.id}/data-sources/${source?.id}`
    expect((await api.patch(path, { params: {} })).error().details).toMatchObject([
      { path: '/binding/filter/site', code: 'unknown_param' },
    ])
    expect((await api.patch(path, { result: '{{ rows.serial }}' })).data(DataSource).version).toBe(2)
    expect((await api.send('DELETE', path)).status).toBe(204)
  })
})
