import { beforeAll, expect, test } from '@jest/globals'
import type { Execution } from '@opsplane/contracts'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'
import { validatingPack } from './validating-pack.js'

let platform: SharedPlatform
let api: Api
let atOrigin: Api

interface Refused {
  error: { code: string; details: { path: string; code: string; message: string; params?: object }[] }
}
interface Made {
  data: { id: string; version: number }
}

const table = (slug: string, columns: object[], to: Api = api) =>
  to('POST', '/tables', { body: { slug, columns } }).then(({ status }) => expect(status).toBe(201))
const assets = '/tables/assets/records'

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  atOrigin = apiClient({ ...platform.info, baseUrl: new URL(platform.info.baseUrl).origin })
  await table('assets', [{ name: 'serial', type: 'text' }])
  await table('parts', [{ name: 'price', type: 'decimal', precision: 8, scale: 2 }])
  await table('journal', [{ name: 'text', type: 'text' }])
  const grant = { tables: { journal: ['write'] } }
  const installed = await api('POST', '/sdk/packs/install', { body: { ...validatingPack, grant } })
  expect([installed.status, installed.body]).toEqual([201, expect.anything()])
})

test('an acknowledged validation immediately rejects records, and names the invalid column', async () => {
  const refused = await api<Refused>('POST', assets, { body: { serial: 'B-1' } })
  expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_failed'])
  expect(refused.body.error.details).toMatchObject([
    {
      path: '/serial',
      code: 'refused_by_rule',
      message: 'must begin with A-',
      params: { artifact: 'serials' },
    },
  ])
  const made = await api<Made>('POST', assets, { body: { serial: 'A-1' } })
  expect(made.status).toBe(201)
  const updated = await api<Refused>('PATCH', `${assets}/${made.body.data.id}`, { body: { serial: 'B-2' } })
  expect(updated.body.error.details).toMatchObject([{ path: '/serial' }])
  const { body } = await atOrigin<{ data: Execution[] }>(
    'GET',
    '/api/service-sdk/artifacts/serials/executions?triggerType=api&executionType=business_rule',
  )
  expect(body.data).toHaveLength(3)
  expect(body.data[0]).toMatchObject({
    status: 'completed',
    output: { faults: [{ index: 0, column: 'serial' }] },
  })
})

test('an invalid record rejects a whole bulk request in one execution, and a validation reads the previous values', async () => {
  const records = ['A-2', 'B-3', 'A-4'].map((serial) => ({ serial }))
  const executions = async () =>
    (await atOrigin<{ data: Execution[] }>('GET', '/api/service-sdk/artifacts/serials/executions')).body.data
      .length
  const before = await executions()
  const bulk = await api<Refused>('POST', `${assets}/bulk`, { body: { records } })
  expect(await executions()).toBe(before + 1)
  expect(bulk.body.error.details).toMatchObject([{ path: '/records/1/serial' }])
  const listed = await api<{ data: object[] }>('GET', `${assets}?limit=200`)
  expect(listed.body.data).toHaveLength(1)
  const part = await api<Made>('POST', '/tables/parts/records', { body: { price: '10.00' } })
  const path = `/tables/parts/records/${part.body.data.id}`
  const steep = await api<Refused>('PATCH', path, { body: { price: '20.01' } })
  expect(steep.body.error.details).toMatchObject([{ path: '/price', code: 'too_steep' }])
  expect((await api('PATCH', path, { body: { price: '20.00' } })).status).toBe(200)
})

test('SQL bypasses validations, as documented', async () => {
  const body = { sql: `insert into assets (serial) values ('B-5')`, mode: 'write' }
  expect((await api('POST', '/queries/run', { body })).status).toBe(200)
})

test('records written by a validation are validated too, up to the maximum depth', async () => {
  const made = await api<Made>('POST', '/tables/journal/records', { body: { text: 'first' } })
  expect(made.status).toBe(201)
  const { body } = await api<{ data: { text: string }[] }>('GET', '/tables/journal/records?limit=200')
  const depths = body.data.map(({ text }) => text.split('saw ').length - 1)
  expect(Math.max(...depths)).toBeGreaterThan(0)
  expect(Math.max(...depths)).toBeLessThanOrEqual(11)
})

test('a validation does not apply to other environments and workspaces', async () => {
  const elsewhere = apiClient({ ...platform.info, ...(await platform.another()) })
  await table('assets', [{ name: 'serial', type: 'text' }], elsewhere)
  expect((await elsewhere('POST', assets, { body: { serial: 'B-6' } })).status).toBe(201)
  const headers = { 'x-environment': 'staging' }
  const staged = { slug: 'assets', columns: [{ name: 'serial', type: 'text' }] }
  expect((await api('POST', '/tables', { body: staged, headers })).status).toBe(201)
  expect((await api('POST', assets, { body: { serial: 'B-7' }, headers })).status).toBe(201)
})

test('uninstalling a pack removes its validations', async () => {
  const { body } = await api<Made>('GET', '/sdk/packs/checks')
  expect((await api('DELETE', `/sdk/packs/${body.data.id}`)).status).toBe(204)
  expect((await api('POST', assets, { body: { serial: 'B-9' } })).status).toBe(201)
})
