import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { KnownNames, newId, type permissions, QueryResult, SavedQuery } from '@opsplane/contracts'
import {
  type ApiClient,
  startTestService,
  type TestService,
  testPrincipal,
  testRole,
  waitFor,
} from '@opsplane/testing'
import { databaseStudio } from '../service.js'
import { unreachableServices } from '../unreachable-services.fixture.js'

let service: TestService
let api: ApiClient
let schema: string
const workspaceId = newId('workspace')
const principal = testPrincipal({ workspaceId })

beforeAll(async () => {
  service = await startTestService(databaseStudio, {
    env: { ...unreachableServices, QUERIES_PER_WORKSPACE: '3' },
  })
  api = service.as(principal)
  await ran('select 1')
  const [space] = await service.sql<{ schema: string }[]>`
    select schema_name as schema from database_studio.spaces where workspace_id = ${workspaceId}`
  schema = space?.schema ?? ''
  await service.sql.begin(async (tx) => {
    await tx.unsafe(`set local role ${testRole(`${schema}_owner`)}; set local search_path = ${schema};
      create table people (id text primary key default gen_random_uuid()::text, name text not null unique, age integer,
        born date, seen timestamptz, paid numeric(12, 2), visits bigint, tags text[], data jsonb, happy boolean)`)
  })
})
afterAll(() => service?.stop())

const post = (body: Record<string, unknown>) => api.post('/queries/run', body)
const ran = async (sql: string, more: Record<string, unknown> = {}) =>
  (await post({ sql, ...more })).data(QueryResult)
const failed = async (sql: string, more: Record<string, unknown> = {}) => {
  const answer = await post({ sql, ...more })
  const { code, details } = answer.error()
  return { status: answer.status, code, ...details?.[0] }
}

describe('a query', () => {
  it('returns rows by column name, with column types', async () => {
    await ran(
      `insert into people (name, age, born, seen, paid, visits, tags, data, happy) values
        (:name, :age, :born, :seen, :paid, :visits, :tags, :data, :happy)`,
      {
        mode: 'write',
        parameters: {
          ...{ name: 'Ada "A"', age: 36, born: '1815-12-10', seen: '2026-01-02T03:04:05.678+01:00' },
          ...{ paid: '12.50', visits: '9007199254740993', tags: ['a,b', 'c"d\\', null, '{}', 'NULL'] },
          ...{ data: { deep: [1, 'x', null] }, happy: true },
        },
      },
    )
    const { columns, rows, rowCount, truncated } = await ran(
      'select name, age, born, seen, paid, visits, tags, data, happy, 1.5::float8 as half, null as nothing, array[[1,2],[3,4]] as grid from people',
    )
    expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      ...[
        'name text',
        'age integer',
        'born date',
        'seen timestamp',
        'paid decimal',
        'visits bigint',
        'tags text[]',
      ],
      ...['data json', 'happy boolean', 'half double precision', 'nothing text', 'grid integer[]'],
    ])
    expect(rows).toEqual([
      {
        ...{ name: 'Ada "A"', age: 36, born: '1815-12-10', seen: '2026-01-02T02:04:05.678Z', paid: '12.50' },
        ...{ visits: '9007199254740993', tags: ['a,b', 'c"d\\', null, '{}', 'NULL'] },
        ...{
          data: { deep: [1, 'x', null] },
          happy: true,
          half: 1.5,
          nothing: null,
          grid: [
            [1, 2],
            [3, 4],
          ],
        },
      },
    ])
    expect({ rowCount, truncated }).toEqual({ rowCount: 1, truncated: null })
  })

  it('accepts parameters by number and by name, with types where Postgres cannot infer them', async () => {
    expect((await ran('select $2::text || $1 as a', { parameters: ['x', 'y'] })).rows).toEqual([{ a: 'yx' }])
    const typed = await ran('select :n as n, :list as list, :j as j, :t as t', {
      parameters: { n: 7, list: [1, 2], j: 'text', t: null },
      types: { n: 'integer', list: 'integer[]', j: 'json', t: 'timestamp' },
    })
    expect(typed.rows).toEqual([{ n: 7, list: [1, 2], j: 'text', t: null }])
    expect((await ran('select $1 as a', { parameters: [1], types: ['bigint'] })).rows).toEqual([{ a: '1' }])
    expect(
      (await ran('select count(*) as n from people where age = any(:ages)', { parameters: { ages: [1, 2] } }))
        .rows,
    ).toEqual([{ n: '0' }])
    expect((await ran('select :constructor as c', { parameters: { constructor: 'x' } })).rows).toEqual([
      { c: 'x' },
    ])
    expect(await failed('select :a', { parameters: {} })).toMatchObject({
      status: 422,
      path: '/parameters/a',
      code: 'required',
    })
    expect(await failed('select 1', { parameters: { b: 1 } })).toMatchObject({
      path: '/parameters/b',
      code: 'unknown',
    })
    expect(await failed('select $1', { parameters: [[1]], types: ['integer'] })).toMatchObject({
      path: '/parameters/1',
    })
  })

  it('assigns distinct names to columns of the same name, and lists columns also for an empty result', async () => {
    expect((await ran('select 1 as a, 2 as a, 3 as a')).rows).toEqual([{ a: 1, a_2: 2, a_3: 3 }])
    const none = await ran('select name, age from people where false')
    expect(none).toMatchObject({ rows: [], rowCount: 0, columns: [{ name: 'name' }, { type: 'integer' }] })
    expect(await ran('select from people where false')).toMatchObject({ columns: [], rows: [] })
  })

  it('reports the number of rows a write has changed, however many rows it returns', async () => {
    const write = (sql: string) => ran(sql, { mode: 'write', maxRows: 7 })
    const values = `select 'cut' || n, to_jsonb(repeat('x', 5000)) from generate_series(1, 2000) n`
    const insert = await write(`insert into people (name, data) ${values} returning name, data`)
    expect(insert).toMatchObject({ truncated: 'rows', rowCount: 7, affected: 2000 })
    expect(await write(`update people set age = 1 where name like 'cut1%'`)).toMatchObject({
      rowCount: 1111,
      affected: 1111,
    })
    expect(await write(`delete from people where name like 'cut%' returning id`)).toMatchObject({
      rowCount: 7,
      affected: 2000,
    })
    expect(await ran('select 1')).not.toHaveProperty('affected')
  })

  it('reports whether its result is truncated by rows or by bytes', async () => {
    const cut = await ran('select generate_series(1, 5000) as n', { maxRows: 450 })
    expect(cut).toMatchObject({ truncated: 'rows', rowCount: 450 })
    expect(cut.rows.at(-1)).toEqual({ n: 450 })
    expect((await ran('select generate_series(1, 450) as n', { maxRows: 450 })).truncated).toBeNull()
    const large = await ran(
      "select n, string_agg('0123456789', '') from generate_series(1, 100) n, generate_series(1, 30000) group by n",
    )
    expect(large.truncated).toBe('bytes')
    expect(large.rows.length).toBeLessThan(20)
  })

  it('changes rows only in mode write, and reports how many', async () => {
    const insert = "insert into people (name) select 'n' || n from generate_series(1, 5) n"
    expect(await failed(insert)).toMatchObject({ status: 422, code: 'mode_write_needed' })
    expect(await ran(insert, { mode: 'write' })).toMatchObject({ rowCount: 5, rows: [], columns: [] })
    const removed = await ran(
      "with gone as (delete from people where name like 'n_' returning name) select name from gone order by 1",
      {
        mode: 'write',
      },
    )
    expect(removed.rows.map(({ name }) => name)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5'])
    expect(await ran('update people set age = 1 where false', { mode: 'write' })).toMatchObject({
      rowCount: 0,
    })
  })

  it('is explained, and changes made by the explanation are rolled back', async () => {
    const plan = await ran('select * from people where age > :age', {
      parameters: { age: 1 },
      explain: 'plan',
    })
    expect(plan.plan).toEqual([{ Plan: expect.objectContaining({ 'Node Type': expect.any(String) }) }])
    const analyzed = await ran("insert into people (name) values ('gone')", {
      mode: 'write',
      explain: 'analyze',
    })
    expect(analyzed.plan).toEqual([expect.objectContaining({ 'Execution Time': expect.any(Number) })])
    expect((await ran("select 1 from people where name = 'gone'")).rows).toEqual([])
  })

  it('fails with the message of Postgres and the position in the submitted SQL', async () => {
    expect(await failed("select 'é', :a::int, nam from people", { parameters: { a: 1 } })).toMatchObject({
      ...{ status: 422, code: 'sql_error', path: '/sql' },
      params: { sqlState: '42703', position: 22, hint: expect.stringContaining('name') },
    })
    expect(
      await failed('select :a, nam from people', {
        parameters: { a: 1 },
        types: { a: 'integer' },
        explain: 'plan',
      }),
    ).toMatchObject({
      params: { sqlState: '42703', position: 12 },
    })
    expect(await failed('select 1/0')).toMatchObject({ params: { sqlState: '22012' } })
    expect(await failed('insert into people (name) values (\'Ada "A"\')', { mode: 'write' })).toMatchObject({
      code: 'constraint_violated',
      params: { sqlState: '23505', constraint: 'people_name_key' },
    })
    expect(await failed('select * from')).toMatchObject({ code: 'syntax_error', params: { position: 14 } })
    expect(await failed('drop table people', { mode: 'write' })).toMatchObject({ code: 'statement_refused' })
    expect(await failed('select 1; select 2')).toMatchObject({ code: 'several_statements' })
  })

  it('is stopped at its timeout, and the next one runs', async () => {
    const forever =
      'select count(*) from generate_series(1, 10000) a, generate_series(1, 10000) b, generate_series(1, 10000) c'
    expect(await failed(forever, { timeoutMs: 100 })).toMatchObject({
      status: 422,
      code: 'timeout',
      params: { sqlState: '57014' },
    })
    expect((await ran('select 1 as a')).rows).toEqual([{ a: 1 }])
  })

  it('is cancelled when its caller disconnects, and the number of concurrent queries is limited', async () => {
    const slow =
      '/* slow */ select count(*) from generate_series(1, 10000) a, generate_series(1, 10000) b, generate_series(1, 10000) c'
    const aborts = [1, 2, 3].map(() => new AbortController())
    const { authorization } = await service.headers(principal)
    const asked = aborts.map(({ signal }) =>
      fetch(`${service.url}/queries/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: authorization ?? '' },
        body: JSON.stringify({ sql: slow, timeoutMs: 30_000 }),
        signal,
      }).catch((error: unknown) => error),
    )
    const running = async () => {
      const sessions = await service.sql<{ query: string }[]>`
        select query from pg_stat_activity where usename::text = ${testRole(`${schema}_reader`)} and state = 'active'`
      return sessions.filter(({ query }) => query === slow).length
    }
    await waitFor(async () => (await running()) === 3)
    expect(await failed('select 1')).toMatchObject({ status: 429, code: 'rate_limited' })
    for (const abort of aborts) abort.abort()
    await Promise.all(asked)
    await waitFor(async () => (await running()) === 0)
    await waitFor(async () => (await post({ sql: 'select 1' })).status === 200)
  })

  it('requires its own permissions', async () => {
    const of = (...given: (typeof permissions)[number][]) =>
      service.as(testPrincipal({ workspaceId, permissions: given }))
    const write = { sql: "insert into people (name) values ('x')", mode: 'write' }
    expect(
      (await of('tables:read', 'records:read').post('/queries/run', { sql: 'select 1' })).error().code,
    ).toBe('insufficient_scope')
    expect((await of('queries:run').post('/queries/run', { sql: 'select 1' })).status).toBe(200)
    expect((await of('queries:run').post('/queries/run', write)).error().code).toBe('insufficient_scope')
    expect((await of('queries:run', 'queries:write').post('/queries/run', write)).status).toBe(200)
  })

  it('cannot read another workspace or environment', async () => {
    for (const other of [testPrincipal({ workspaceId, environment: 'staging' }), testPrincipal()]) {
      const elsewhere = service.as(other)
      for (const sql of ['select * from people', `select * from ${schema}.people`])
        expect(
          (await elsewhere.post('/queries/run', { sql })).error().details?.[0]?.params?.sqlState,
        ).toMatch(/42P01|42501/)
    }
  })
})

describe('a saved query', () => {
  const draft = {
    name: 'Older than',
    sql: 'select name from people where age > :age and (:name is null or name like :name)',
    parameters: [
      { name: 'age', type: 'integer' },
      { name: 'name', type: 'text', required: false },
    ],
  }

  it('is saved, changed, run in any of its versions, and deleted', async () => {
    const saved = (await api.post('/queries', draft)).data(SavedQuery)
    expect(saved).toMatchObject({ ...draft, mode: 'read', version: 1 })
    const run = (body: object) => api.post(`/queries/${saved.id}/run`, body)
    expect((await run({ parameters: { age: 30 } })).data(QueryResult).rows).toEqual([{ name: 'Ada "A"' }])
    expect((await run({})).error().details?.[0]).toMatchObject({ path: '/parameters/age', code: 'required' })
    expect((await run({ parameters: { age: [1] } })).status).toBe(422)

    const patch = {
      sql: 'select age from people where age > :age',
      parameters: [{ name: 'age', type: 'integer', required: false, default: 35 }],
    }
    expect((await api.patch(`/queries/${saved.id}`, patch)).data(SavedQuery)).toMatchObject({
      ...patch,
      version: 2,
    })
    expect((await run({})).data(QueryResult).rows).toEqual([{ age: 36 }])
    expect((await run({ version: 1, parameters: { age: 30 } })).data(QueryResult).rows).toEqual([
      { name: 'Ada "A"' },
    ])
    for (const version of [3, Number.MAX_SAFE_INTEGER]) expect((await run({ version })).status).toBe(404)

    const first = (await api.get(`/queries/${saved.id}/versions?limit=1`)).page(SavedQuery)
    expect(first.items).toMatchObject([{ version: 2 }])
    const rest = (
      await api.get(`/queries/${saved.id}/versions?limit=1&after=${first.pagination.nextCursor}`)
    ).page(SavedQuery)
    expect(rest.items).toEqual([saved])
    expect(rest.pagination.nextCursor).toBeNull()

    expect((await api.send('DELETE', `/queries/${saved.id}`)).status).toBe(204)
    expect((await run({})).status).toBe(404)
    expect((await api.get(`/queries/${saved.id}/versions`)).status).toBe(404)
  })

  it.each([
    [{ sql: 'drop table people' }, 'statement_refused'],
    [{ sql: 'select :other', parameters: [] }, 'undeclared'],
    [{ sql: 'select 1' }, 'unused'],
    [{ sql: 'select $1' }, 'numbered'],
    [{ parameters: [...draft.parameters, { name: 'age', type: 'text' }] }, 'duplicate'],
    [{ sql: 'delete from people where age = :age and name = :name' }, 'mode_write_needed'],
  ])('is rejected with the change %j', async (change, code) => {
    const answer = await api.post('/queries', { ...draft, ...change })
    expect(answer.status).toBe(422)
    expect(answer.error().details?.map((detail) => detail.code)).toContain(code)
  })

  it.each([
    ['integer', 'many'],
    ['integer', 1.5],
    ['bigint', '9223372036854775808'],
    ['boolean', 'perhaps'],
    ['date', '2026-02-30'],
    ['timestamp', 'soon'],
    ['uuid', 'x'],
    ['integer[]', ['a']],
    ['integer[]', 1],
    ['text', ['a']],
  ])('is rejected if the default of a parameter of type %s is %j', async (type, value) => {
    const parameters = [{ name: 'value', type, default: value }]
    const answer = await api.post('/queries', { name: 'Wrong', sql: 'select :value', parameters })
    expect(answer.error().details).toMatchObject([{ path: '/parameters/0/default', code: 'invalid_value' }])
  })

  it('is saved with default values of every type', async () => {
    const values = {
      ...{
        text: 'a',
        integer: 1,
        bigint: '9007199254740993',
        decimal: '1.50',
        boolean: true,
        json: { a: 1 },
      },
      ...{
        date: '2026-03-02',
        timestamp: '2026-03-02T10:00:00Z',
        uuid: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      },
      ...{ 'integer[]': [1, null], 'text[]': ['a'], 'date[]': ['2026-03-02'] },
    }
    const parameters = Object.entries(values).map(([type, value], at) => ({
      name: `p${at}`,
      type,
      default: value,
    }))
    const sql = `select ${parameters.map(({ name }) => `:${name}`).join(', ')}`
    const saved = (await api.post('/queries', { name: 'Defaults', sql, parameters })).data(SavedQuery)
    expect((await api.post(`/queries/${saved.id}/run`, {})).status).toBe(200)
  })

  it('is listed, and not visible in another environment', async () => {
    const saved = (await api.post('/queries', draft)).data(SavedQuery)
    expect((await api.get('/queries?sort=name')).page(SavedQuery).items).toContainEqual(saved)
    const staging = service.as(testPrincipal({ workspaceId, environment: 'staging' }))
    expect((await staging.get('/queries')).page(SavedQuery).items).toEqual([])
    expect((await staging.post(`/queries/${saved.id}/run`, { parameters: { age: 1 } })).status).toBe(404)
    const known = async (environment: string) => {
      const question = { workspaceId, environment, names: [saved.id, newId('query')] }
      const answer = await service.asService('workflows').post('/internal/queries/names', question)
      return answer.data(KnownNames).names
    }
    expect([await known('production'), await known('staging')]).toEqual([[saved.id], []])
  })

  it('has the same state after a rebuild from its events', async () => {
    const rows = () => service.sql`select * from saved_queries order by id`
    const before = await rows()
    await service.rebuild()
    expect(await rows()).toEqual(before)
  })
})
