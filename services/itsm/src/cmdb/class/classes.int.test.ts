import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { builtInClasses, CiClass, ConfigurationItem, newId } from '@opsplane/contracts'
import { connect, selectionConditions } from '@opsplane/postgres'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { ciClasses } from '../../schema/cmdb.js'
import { itsm } from '../../service.js'
import { ownSelection } from './class-list.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

const add = async (client: ApiClient, name: string, label: string) =>
  (await client.post('/cmdb/classes', { name, label })).data(CiClass)
/** Returns the current instant. Later events of the test have a later instant. */
const now = async () => {
  const instant = new Date().toISOString()
  await waitFor(() => new Date().toISOString() > instant)
  return instant
}
const walk = async (client: ApiClient, query: string, limit = 2): Promise<CiClass[]> => {
  const classes: CiClass[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await client.get(`/cmdb/classes?${query}&limit=${limit}${after}`)).page(
      CiClass,
    )
    expect(items.length).toBeLessThanOrEqual(limit)
    classes.push(...items)
    if (pagination.nextCursor === null) return classes
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}
const names = async (client: ApiClient, query: string, limit?: number) =>
  (await walk(client, query, limit)).map(({ name }) => name)

describe('the list of classes', () => {
  const ordered = [
    'application',
    'cloud_resource',
    'container',
    'database',
    'laptop',
    'network_device',
    'other',
    'printer',
    'server',
    'service',
    'storage',
  ]

  it('merges built-in classes and those of the workspace into one order, with pagination', async () => {
    const own = service.as(testPrincipal())
    await add(own, 'printer', 'Drucker')
    await add(own, 'laptop', 'Notebook')
    await own.patch('/cmdb/classes/server', { label: 'Machine' })
    for (const also of ['', '&asOf=2120-01-01T00:00:00Z']) {
      for (const limit of [1, 2, 3, 11, 200]) {
        expect(await names(own, `sort=name${also}`, limit)).toEqual(ordered)
        expect(await names(own, `sort=-name${also}`, limit)).toEqual(ordered.toReversed())
      }
      expect(await names(own, `builtIn=false${also}`, 1)).toEqual(['laptop', 'printer'])
      expect(await names(own, `builtIn=true&sort=-name${also}`)).toEqual(
        ordered.filter((name) => name in builtInClasses).toReversed(),
      )
    }
    expect(await names(service.as(testPrincipal()), '')).toEqual(
      ordered.filter((name) => name in builtInClasses),
    )
  })

  it('is searchable by name and label for built-in and other classes alike', async () => {
    const own = service.as(testPrincipal())
    await add(own, 'edge_device', 'Gerät am Rand')
    await own.patch('/cmdb/classes/server', { label: 'Device of a rack' })
    for (const also of ['', '&asOf=2120-01-01T00:00:00Z']) {
      expect(await names(own, `q=device${also}`)).toEqual(['edge_device', 'network_device', 'server'])
      expect(await names(own, `q=DEV${also}`, 1)).toEqual(['edge_device', 'network_device', 'server'])
      expect(await names(own, `q=gerat${also}`)).toEqual(['edge_device'])
      expect(await names(own, `q=device+-edge${also}`)).toEqual(['network_device', 'server'])
      expect(await names(own, `q=%22network+device%22+or+storage${also}`)).toEqual([
        'network_device',
        'storage',
      ])
      expect(await names(own, `q=device&builtIn=true&sort=-name${also}`)).toEqual([
        'server',
        'network_device',
      ])
      expect(await names(own, `q=device&builtIn=false${also}`)).toEqual(['edge_device'])
      expect(await names(own, `q=nothing${also}`)).toEqual([])
    }
    const first = (await own.get('/cmdb/classes?q=device&limit=1')).page(CiClass)
    const after = encodeURIComponent(first.pagination.nextCursor ?? '')
    expect((await own.get(`/cmdb/classes?limit=1&after=${after}`)).error().code).toBe('invalid_cursor')
    for (const query of ['builtIn=yes', 'sort=label', 'q=', 'asOf=then'])
      expect([query, (await own.get(`/cmdb/classes?${query}`)).status]).toEqual([query, 422])
  })

  it('as of a past instant contains built-in classes always, and others since their creation', async () => {
    const own = service.as(testPrincipal())
    const empty = await now()
    const made = await add(own, 'laptop', 'Notebook')
    await own.patch('/cmdb/classes/server', { label: 'Machine' })
    const before = await now()
    await own.patch('/cmdb/classes/laptop', { label: 'Portable', schema: { type: 'object' } })
    await own.patch('/cmdb/classes/server', { label: 'Host' })
    const label = async (name: string, query: string) =>
      (await walk(own, query, 3)).find((one) => one.name === name)?.label
    expect(await label('laptop', `asOf=${before}`)).toBe('Notebook')
    expect(await label('laptop', '')).toBe('Portable')
    expect(await label('server', `asOf=${empty}`)).toBe('Server')
    expect(await label('server', `asOf=${before}`)).toBe('Machine')
    expect(await label('server', '')).toBe('Host')
    expect(await names(own, `asOf=${empty}`)).toHaveLength(9)
    expect(await names(own, `asOf=${before}&q=notebook`)).toEqual(['laptop'])
    expect(await names(own, 'q=notebook')).toEqual([])
    expect(await names(own, `asOf=${before}&q=machine`)).toEqual(['server'])
    expect(await names(own, `asOf=${before}&q=host`)).toEqual([])
    expect(await names(own, `asOf=${empty}&q=machine+or+notebook`)).toEqual([])

    const one = (name: string, query: string) => own.get(`/cmdb/classes/${name}${query}`)
    expect((await one('laptop', `?asOf=${before}`)).data(CiClass)).toEqual(made)
    expect((await one('laptop', `?asOf=${empty}`)).error().code).toBe('not_found')
    expect((await one('server', `?asOf=${empty}`)).data(CiClass)).toMatchObject({ label: 'Server' })
    expect((await one('server', `?asOf=${before}`)).data(CiClass)).toMatchObject({ label: 'Machine' })
    expect((await one('server', '')).data(CiClass)).toMatchObject({ label: 'Host', builtIn: true })
    expect((await one('storage', '')).data(CiClass)).toMatchObject({ label: 'Storage', schema: null })
    expect((await one('nothing', '')).error().code).toBe('not_found')
    expect((await one('constructor', '')).error().code).toBe('not_found')
  })

  it('contains only classes of its workspace and environment', async () => {
    const principal = testPrincipal()
    const own = service.as(principal)
    const made = await own.post('/cmdb/classes', { name: 'laptop', label: 'Notebook' })
    expect(made.headers.get('location')).toMatch(/\/cmdb\/classes\/laptop$/)
    await own.patch('/cmdb/classes/server', { label: 'Machine' })
    for (const stranger of [
      service.as(testPrincipal()),
      service.as({ ...principal, environment: 'staging' }),
    ])
      for (const query of ['', '&asOf=2120-01-01T00:00:00Z']) {
        expect(await names(stranger, `q=notebook${query}`)).toEqual([])
        expect(await names(stranger, `q=machine${query}`)).toEqual([])
        expect((await stranger.get(`/cmdb/classes/laptop?${query}`)).error().code).toBe('not_found')
        const server = (await stranger.get(`/cmdb/classes/server?${query.slice(1)}`)).data(CiClass)
        expect(server.label).toBe('Server')
      }
    const desk = service.as({ ...principal, permissions: ['itsm:read'] })
    expect((await desk.get('/cmdb/classes')).error().code).toBe('insufficient_scope')
    expect((await desk.get('/cmdb/classes/laptop')).error().code).toBe('insufficient_scope')
  })

  it('continues past pages without matches, and is read through indexes', async () => {
    const principal = testPrincipal()
    const own = service.as(principal)
    await service.sql.begin(async (tx) => {
      const at = '2026-01-01T00:00:00.000Z'
      const classOf = tx`json_build_object('id', 'cls_' || lpad(n::text, 26, '0'), 'name', 'k' || lpad(n::text, 4, '0'),
        'label', case when n % 1100 = 0 then 'Needle' else 'Hay' end, 'schema', null, 'createdAt', ${at}::text, 'updatedAt', ${at}::text)`
      await tx`
        insert into ci_classes (id, workspace_id, environment, version, state)
        select 'cls_' || lpad(n::text, 26, '0'), ${principal.workspaceId ?? ''}, 'production', 1, ${classOf}
        from generate_series(1, 2500) n`
      await tx`
        insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
          created_at)
        select new_event_id(), 'ci_classes', 'cls_' || lpad(n::text, 26, '0'), 1, 'ci.class_created',
          ${principal.workspaceId ?? ''}, 'production', '{}', '{}', json_build_object('after', ${classOf}), ${at}
        from generate_series(1, 2500) n`
    })
    const expected = ['k1100', 'k2200']
    for (const query of ['q=needle', 'q=needle&asOf=2026-02-01T00:00:00Z'])
      for (const [sort, wanted] of [
        ['name', expected],
        ['-name', expected.toReversed()],
      ] as const)
        expect(await names(own, `${query}&sort=${sort}`, 1)).toEqual(wanted)
    const page = (await own.get('/cmdb/classes?q=needle&asOf=2026-02-01T00:00:00Z')).page(CiClass)
    expect([page.items.length, page.pagination.hasMore]).toEqual([0, true])
    expect(await names(own, 'q=storage&asOf=2026-02-01T00:00:00Z')).toEqual(['storage'])
    expect(await names(own, 'asOf=2025-12-31T00:00:00Z')).toHaveLength(9)
    expect(new Set(await names(own, 'asOf=2026-02-01T00:00:00Z', 200)).size).toBe(2509)
    expect(new Set(await names(own, '', 200)).size).toBe(2509)
    expect((await own.get(`/cmdb/classes/${newId('ciClass')}`)).error().code).toBe('not_found')

    await service.sql`vacuum analyze ci_classes`
    const plans: [string, string | undefined, string | undefined][] = [
      ['ci_classes_name_key', undefined, undefined],
      ['ci_classes_name_key', undefined, 'k2000'],
      ['ci_classes_search_idx', 'needle', undefined],
    ]
    const database = connect(service.adminUrl, { schema: 'itsm', max: 1 })
    for (const [index, q, after] of plans)
      for (const direction of ['asc', 'desc'] as const) {
        const ofTenant = [
          eq(ciClasses.workspaceId, principal.workspaceId ?? ''),
          eq(ciClasses.environment, 'production'),
        ]
        const query = database.db
          .select({ id: ciClasses.id })
          .from(ciClasses)
          .where(and(...ofTenant, ...selectionConditions(ownSelection({ q, direction }, after))))
          .orderBy(...[ciClasses.name, ciClasses.id].map(direction === 'asc' ? asc : desc))
          .limit(51)
        const plan = await database.db.execute(sql`explain ${query}`)
        expect(JSON.stringify([...plan])).toContain(index)
        expect(await query).not.toEqual([])
      }
    await database.close()
  })
})

describe('configuration item classes', () => {
  let api: ApiClient
  beforeAll(() => {
    api = service.as(testPrincipal())
  })
  const record = async (fields: object) =>
    (await api.post('/cmdb/items', { class: 'server', name: 'web-1', ...fields })).data(ConfigurationItem)

  it('allow 64 KiB of attributes per item in any script', async () => {
    await record({ attributes: { text: 'a'.repeat(65_000) } })
    const wide = { class: 'server', name: 'Wide', attributes: { text: '語'.repeat(22_000) } }
    expect((await api.post('/cmdb/items', wide)).error().details[0]).toMatchObject({ path: '/attributes' })
  })

  it('validate the attributes of their items against a schema', async () => {
    const schema = {
      type: 'object',
      properties: {
        engine: { enum: ['postgres', 'mysql'] },
        cores: { type: 'integer', minimum: 1 },
        disks: {
          type: 'array',
          items: { type: 'object', properties: { serial: { type: 'string', pattern: '^WD-' } } },
        },
      },
      required: ['engine'],
      additionalProperties: false,
    }
    const made = (await api.post('/cmdb/classes', { name: 'db_node', label: 'Node', schema })).data(CiClass)
    expect(made).toEqual({ name: 'db_node', label: 'Node', schema, builtIn: false, version: 1 })
    const again = (await api.post('/cmdb/classes', { name: 'db_node', label: 'Again' })).error()
    expect(again).toMatchObject({ code: 'conflict', details: [{ path: '/name', code: 'not_unique' }] })
    const wrong = await api.post('/cmdb/items', {
      class: 'db_node',
      name: 'n',
      attributes: { engine: 'postgres', cores: 0, disks: [{ serial: 'WD-1' }, { serial: '1' }], rack: 1 },
    })
    expect(wrong.error().details.map(({ path }) => path)).toEqual([
      '/attributes/cores',
      '/attributes/disks/1/serial',
      '/attributes/rack',
    ])
    const { id } = await record({ class: 'db_node', attributes: { engine: 'mysql' } })
    const patched = await api.patch(`/cmdb/items/${id}`, { attributes: {} })
    expect(patched.error().details[0]).toMatchObject({ path: '/attributes/engine' })
    expect((await api.patch(`/cmdb/items/${id}`, { name: 'renamed' })).status).toBe(200)
  })

  it('reject changes with a stale If-Match, also for built-in classes that were never changed', async () => {
    const own = service.as(testPrincipal())
    const path = '/cmdb/classes/server'
    expect((await own.get(path)).headers.get('etag')).toBe('"0"')
    for (const version of [0, 1]) {
      const headers = { 'if-match': `"${version}"` }
      const label = `Machine ${version}`
      expect((await own.patch(path, { label }, headers)).data(CiClass)).toMatchObject({
        label,
        version: version + 1,
      })
      expect((await own.patch(path, { label: 'Late' }, headers)).error().code).toBe('precondition_failed')
    }
    const early = await own.patch('/cmdb/classes/database', { label: 'Late' }, { 'if-match': '"1"' })
    expect(early.error().code).toBe('precondition_failed')
  })

  it('include the built-in ones, which a workspace can change', async () => {
    const own = service.as(testPrincipal())
    const classes = async () => (await own.get('/cmdb/classes')).page(CiClass).items
    expect((await classes()).map(({ name }) => name)).toHaveLength(9)
    await own.patch('/cmdb/classes/server', { label: 'Machine' })
    await own.patch('/cmdb/classes/server', { schema: { type: 'object' } })
    const servers = (await classes()).filter(({ name }) => name === 'server')
    const changed = {
      name: 'server',
      label: 'Machine',
      schema: { type: 'object' },
      builtIn: true,
      version: 2,
    }
    expect(servers).toEqual([changed])
    expect((await own.patch('/cmdb/classes/nothing', { label: 'X' })).error().code).toBe('not_found')
    const unknown = await own.post('/cmdb/items', { class: 'nothing', name: 'x' })
    expect(unknown.error().details[0]).toMatchObject({ path: '/class', code: 'unknown_class' })
  })

  it('accept concurrent first changes of a built-in class without losing any', async () => {
    const own = service.as(testPrincipal())
    const changes = Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0 ? { label: 'Disks' } : { schema: { type: 'object' } },
    )
    const replies = await Promise.all(changes.map((change) => own.patch('/cmdb/classes/storage', change)))
    const codes = replies.filter(({ status }) => status !== 200).map((reply) => reply.error().code)
    expect(codes.filter((code) => code !== 'version_conflict')).toEqual([])
    const all = (await own.get('/cmdb/classes')).page(CiClass).items
    expect(all.filter(({ name }) => name === 'storage')).toHaveLength(1)
  })

  it.each([
    [{ type: 'string' }, '/schema/type'],
    [
      { type: 'object', properties: { a: { type: 'string', pattern: '(a+)\\1$' } } },
      '/schema/properties/a/pattern',
    ],
    [{ type: 'object', properties: { a: { minimum: 3 } } }, '/schema/properties/a'],
    [{ type: 'object', properties: { a: { $ref: '#' } } }, '/schema/properties/a/$ref'],
    [{ type: 'object', properties: { a: { type: 'nope' } } }, '/schema/properties/a/type'],
  ])('reject a schema that cannot be enforced: %j', async (schema, path) => {
    const reply = await api.post('/cmdb/classes', { name: 'bad', label: 'Bad', schema })
    expect(reply.error().details[0]).toMatchObject({ path, code: 'invalid_schema' })
  })
})
