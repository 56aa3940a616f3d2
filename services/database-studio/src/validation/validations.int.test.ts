import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  type KnownValidation,
  newId,
  type Principal,
  RecordImport,
  StudioRecord,
  TableState,
  type ValidationAnswer,
  ValidationQuestion,
} from '@opsplane/contracts'
import {
  type ApiClient,
  type FakeSettings,
  startFakeSettings,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { z } from 'zod'
import { assets } from '../record/assets.fixture.js'
import { startStudio } from '../record/studio.fixture.js'

/** A fake of the sdk, with the operations that the studio calls. */
let sdk: FakeSettings
let asked: ValidationQuestion[] = []
/** Returns the problem of a record, if any. */
type Judge = (record: Record<string, unknown>) => { column?: string; message: string } | undefined
const refusesBad: Judge = ({ serial }) =>
  String(serial).startsWith('bad') ? { column: 'serial', message: 'is malformed' } : undefined
/** Runs while a validation request is in progress. */
let meanwhile: () => Promise<unknown> = async () => undefined
let unavailable: ValidationAnswer['unavailable'] = []

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
const principal = testPrincipal()
const tenant = { workspaceId: principal.workspaceId ?? '', environment: 'production' as const }
const path = '/tables/assets/records'
const artifactId = newId('artifact')
let version = 0

async function answered(body: unknown): Promise<ValidationAnswer> {
  const question = ValidationQuestion.parse(body)
  asked.push(question)
  await meanwhile()
  const faults = question.batch.flatMap(({ records }, batch) =>
    records.flatMap((record, index) => {
      const found = refusesBad(record)
      return found ? [{ batch, index, code: 'malformed', artifact: 'serials', ...found }] : []
    }),
  )
  return { faults, unavailable }
}

const validates = (
  whenUnavailable: 'fail_open' | 'fail_closed' = 'fail_closed',
  tables = ['assets'],
): KnownValidation => ({
  artifactId,
  version: ++version,
  validates: { tables, on: ['create', 'update', 'delete'], whenUnavailable },
})
const announce = async (...validations: KnownValidation[]) => {
  const said = await at.studio.asService('sdk').post('/internal/validations', { ...tenant, validations })
  expect(said.status).toBe(200)
}

beforeAll(async () => {
  sdk = await startFakeSettings({ '/internal/rules/validate': answered })
  at = await startStudio({ SERVICE_URLS: JSON.stringify({ settings: 'http://127.0.0.1:1', sdk: sdk.url }) })
  api = at.studio.as(principal)
  const sites = TableState.parse({
    ...assets,
    slug: 'sites',
    columns: [{ name: 'name', type: 'text' }],
    indexes: [],
  })
  await at.addTable(principal, sites)
  await at.addTable(principal, assets)
  await announce(validates())
})
beforeEach(() => {
  asked = []
  meanwhile = async () => undefined
  unavailable = []
  sdk.up = true
})
afterAll(async () => {
  await at?.studio.stop()
  await sdk?.stop()
})

let serials = 0
const nextSerial = () => `ok-${++serials}`
const create = async (more: object = {}, as: ApiClient = api) =>
  (await as.post(path, { name: 'Drill', serial: nextSerial(), ...more })).data(StudioRecord)
const get = async (id: string) => (await api.get(`${path}/${id}`)).data(StudioRecord)
const count = async () => Number((await api.get(`${path}?limit=200`)).page(StudioRecord).items.length)

describe('records of a table with a validation', () => {
  it('are created if the validation passes, and rejected with the column it names otherwise', async () => {
    const serial = nextSerial()
    const made = await create({ serial })
    expect(asked).toEqual([
      {
        ...{ ...tenant, actorId: principal.actor.id, requestId: expect.any(String), causationId: null },
        batch: [{ table: 'assets', operation: 'create', records: [{ id: made.id, name: 'Drill', serial }] }],
      },
    ])
    const before = await count()
    const refused = await api.post(path, { name: 'Drill', serial: 'bad-1' })
    expect([refused.status, refused.error().code]).toEqual([422, 'validation_failed'])
    expect(refused.error().details).toEqual([
      {
        in: 'body',
        path: '/serial',
        code: 'malformed',
        message: 'is malformed',
        params: { artifact: 'serials' },
      },
    ])
    expect(await count()).toBe(before)
  })

  it('are all rejected if one record of a bulk request fails, with one call per request', async () => {
    const before = await count()
    const records = [nextSerial(), 'bad-2', nextSerial()].map((serial) => ({ name: 'Saw', serial }))
    const refused = await api.post(`${path}/bulk`, { records })
    expect(refused.error().details.map(({ path: place }) => place)).toEqual(['/records/1/serial'])
    expect([asked.length, asked[0]?.batch[0]?.records.length, await count()]).toEqual([1, 3, before])
    const fine = await api.post(`${path}/bulk`, { records: [records[0], records[2]] })
    expect([fine.status, await count()]).toEqual([201, before + 2])
  })

  it('are updated only in the validated state, and validated again after a concurrent change', async () => {
    const { id } = await create({ quantity: 1 })
    asked = []
    meanwhile = async () => {
      meanwhile = async () => undefined
      await api.patch(`${path}/${id}`, { quantity: 2 })
    }
    const updated = await api.patch(`${path}/${id}`, { name: 'Drill 2' })
    expect(updated.data(StudioRecord)).toMatchObject({ name: 'Drill 2', quantity: 2, version: 3 })
    const shown = asked.flatMap(({ batch }) => batch).map(({ before, records }) => [before?.[0], records[0]])
    expect(shown).toMatchObject([
      [
        { name: 'Drill', quantity: 1, label: 'DRILL' },
        { name: 'Drill 2', quantity: 1 },
      ],
      [{ quantity: 1 }, { quantity: 2 }],
      [
        { name: 'Drill', quantity: 2 },
        { name: 'Drill 2', quantity: 2 },
      ],
    ])
    expect(shown[0]?.[1]).not.toHaveProperty('label')
    const refused = await api.patch(`${path}/${id}`, { serial: 'bad-3' })
    expect(refused.error().details).toMatchObject([{ path: '/serial', params: { record: id } }])
    expect((await get(id)).version).toBe(3)
    expect((await api.patch(`${path}/${newId('record')}`, { name: 'x' })).status).toBe(404)
    const stale = await api.patch(`${path}/${id}`, { name: 'x' }, { 'if-match': '"1"' })
    expect(stale.status).toBe(412)
  })

  it('are rejected with version_conflict after three concurrent changes', async () => {
    const { id } = await create()
    let writes = 0
    meanwhile = async () =>
      at.studio.as(principal).post('/queries/run', {
        ...{ sql: 'update assets set quantity = $1 where id = $2', mode: 'write' },
        parameters: [100 + ++writes, id],
      })
    const refused = await api.send('DELETE', `${path}/${id}`)
    expect([refused.status, refused.error().code, writes]).toEqual([409, 'version_conflict', 3])
    meanwhile = async () => undefined
    expect((await api.send('DELETE', `${path}/${id}`)).status).toBe(204)
    expect(asked.at(-1)?.batch).toMatchObject([{ operation: 'delete', records: [{ id, quantity: 103 }] }])
  })

  it('are changed by a filter all or none', async () => {
    const names = ['Mill 1', 'Mill 2']
    for (const name of names) await create({ name })
    asked = []
    const filter = { name: { starts_with: 'Mill' } }
    const dry = await api.patch(`${path}/bulk`, { filter, set: { quantity: 9 }, dryRun: true })
    expect(dry.data(z.unknown())).toMatchObject({ count: 2, dryRun: true })
    const one = await api.patch(`${path}/bulk`, { filter, set: { serial: 'bad-4' }, limit: 1 })
    expect([one.status, asked.length]).toEqual([422, 1])
    const refused = await api.patch(`${path}/bulk`, { filter, set: { serial: 'bad-4' } })
    expect(refused.error().details.map(({ path: place }) => place)).toEqual(['/set/serial', '/set/serial'])
    const done = await api.patch(`${path}/bulk`, { filter, set: { quantity: 9 } })
    expect(done.data(z.unknown())).toMatchObject({ count: 2 })
    expect(asked.at(-1)?.batch).toMatchObject([
      {
        operation: 'update',
        records: [{ quantity: 9 }, { quantity: 9 }],
        before: [{ quantity: 1 }, { quantity: 1 }],
      },
    ])
    const deleted = await api.send('DELETE', `${path}/bulk`, { body: { filter } })
    expect(deleted.data(z.unknown())).toMatchObject({ count: 2 })
    expect(asked.at(-1)?.batch).toMatchObject([{ operation: 'delete', records: [{}, {}] }])
  })

  it('are distinguished in an upsert as existing or new', async () => {
    const there = await create({ quantity: 5 })
    const serial = nextSerial()
    asked = []
    const records = [
      { name: 'New', serial },
      { name: 'Renamed', serial: there.serial },
    ]
    const done = await api.send('PUT', `${path}/bulk`, { body: { on: ['serial'], records } })
    expect(done.data(z.unknown())).toMatchObject({ created: 1, updated: 1 })
    expect(asked.map(({ batch }) => batch)).toMatchObject([
      [
        { operation: 'create', records: [{ name: 'New', serial }] },
        {
          operation: 'update',
          before: [{ id: there.id, name: 'Drill' }],
          records: [{ id: there.id, name: 'Renamed', quantity: 5 }],
        },
      ],
    ])
    meanwhile = async () => {
      meanwhile = async () => undefined
      await api.patch(`${path}/${there.id}`, { quantity: 6 })
    }
    await api.send('PUT', `${path}/bulk`, {
      body: { on: ['serial'], records: [{ name: 'Again', serial: there.serial }] },
    })
    expect(asked.at(-1)?.batch).toMatchObject([{ before: [{ quantity: 6 }], records: [{ name: 'Again' }] }])
    expect(await get(there.id)).toMatchObject({ name: 'Again', quantity: 6 })
  })

  it('are validated in a batch of several tables, each in the state left by the operations before', async () => {
    const there = await create()
    asked = []
    const serial = nextSerial()
    const operations = [
      { op: 'create', table: 'sites', as: 'site', data: { name: 'Berlin' } },
      { op: 'create', table: 'assets', as: 'drill', data: { name: 'Drill', serial } },
      { op: 'update', table: 'assets', id: '$as:drill', data: { name: 'Drill 2' } },
      { op: 'update', table: 'assets', id: there.id, data: { name: 'Mine' } },
      { op: 'delete', table: 'assets', id: there.id },
    ]
    const done = await api.post('/tables/batch', { operations })
    expect(done.status).toBe(200)
    expect(asked.map(({ batch }) => batch)).toMatchObject([
      [
        { operation: 'create', records: [{ name: 'Drill', serial }] },
        {
          operation: 'update',
          before: [{ name: 'Drill' }, { id: there.id, name: 'Drill' }],
          records: [{ name: 'Drill 2', serial }, { name: 'Mine' }],
        },
        { operation: 'delete', records: [{ id: there.id, name: 'Mine' }] },
      ],
    ])
    const bad = { op: 'create', table: 'assets', data: { name: 'Drill', serial: 'bad-5' } }
    const refused = await api.post('/tables/batch', { operations: [operations[0], bad] })
    expect(refused.error().details.map(({ path: place }) => place)).toEqual(['/operations/1/data/serial'])
  })

  it('are rejected line by line in an import, including records that exist already', async () => {
    const there = await create()
    asked = []
    const lines = ['name,serial', `New,${nextSerial()}`, 'Bad,bad-6', `Changed,${there.serial}`]
    const headers = { ...(await at.studio.headers(principal)), 'content-type': 'text/csv' }
    const url = `${at.studio.url}${path}/import?on=serial`
    const sent = await fetch(url, { method: 'POST', headers, body: lines.join('\n') })
    const { id } = RecordImport.parse(((await sent.json()) as { data: unknown }).data)
    const done = await waitFor(async () => {
      const found = (await api.get(`/tables/assets/imports/${id}`)).data(RecordImport)
      return found.finishedAt === null ? undefined : found
    })
    expect(done).toMatchObject({
      ...{ status: 'completed', written: 2, refused: 1 },
      refusedRows: [{ line: 3, path: '/serial', message: 'is malformed' }],
    })
    expect(asked).toHaveLength(1)
    expect((await get(there.id)).name).toBe('Changed')
  })
})

describe('while validations cannot be run', () => {
  it('records are rejected if a validation fails closed, and written if all validations fail open', async () => {
    const before = await count()
    sdk.up = false
    const closed = await api.post(path, { name: 'Drill', serial: nextSerial() })
    expect([closed.status, closed.error().code]).toEqual([503, 'service_unavailable'])
    await announce(validates('fail_open'))
    expect((await api.post(path, { name: 'Drill', serial: 'bad-7' })).status).toBe(201)
    await announce(validates('fail_closed'))
    sdk.up = true
    unavailable = [{ artifact: 'serials', reason: 'broken' }]
    const failed = await api.post(path, { name: 'Drill', serial: nextSerial() })
    expect([failed.status, failed.error().message]).toEqual([503, expect.stringContaining('serials: broken')])
    expect(await count()).toBe(before + 1)
  })
})

describe('no validation is called', () => {
  it('for tables without validations, other environments, other workspaces and SQL writes', async () => {
    const staging: Principal = { ...principal, environment: 'staging' }
    const others = testPrincipal()
    for (const other of [staging, others]) {
      await at.addTable(
        other,
        TableState.parse({ ...assets, columns: assets.columns.slice(0, 2), indexes: [] }),
      )
      await create({ serial: 'bad-8' }, at.studio.as(other))
    }
    expect((await api.post('/tables/sites/records', { name: 'Berlin' })).status).toBe(201)
    const sql = `insert into assets (name, serial) values ('By SQL', 'bad-9')`
    expect((await api.post('/queries/run', { sql, mode: 'write' })).status).toBe(200)
    expect(asked).toEqual([])
  })

  it('once the validation is removed, even if an older announcement arrives later', async () => {
    const older = validates()
    await announce({ artifactId, version: ++version, validates: null })
    await waitFor(async () => {
      asked = []
      await create()
      return asked.length === 0
    })
    await announce(older)
    await create()
    expect(asked).toEqual([])
    await announce(validates())
    await create()
    expect(asked).toHaveLength(1)
  })
})

it('validations can be announced only by the sdk', async () => {
  const said = await at.studio.asService('apps').post('/internal/validations', { ...tenant, validations: [] })
  expect(said.status).toBe(403)
})
