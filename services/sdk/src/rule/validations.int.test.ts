import { afterAll, beforeAll, expect, it } from '@jest/globals'
import {
  type ChangedRecords,
  Execution,
  newId,
  ValidationAnswer,
  type ValidationQuestion,
} from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'

let sdk: SdkFixture
let studio: ApiClient
let workspaceId: string

const artifactIds: Record<string, string> = {}

/** Rejects records without a serial, by their index in the input. */
const needsSerial = `export default ({ records }) => ({
  faults: records.flatMap((record, index) => record.serial ? [] : [{ index, column: 'serial', message: 'is needed' }]),
})`

beforeAll(async () => {
  sdk = await startSdk()
  studio = sdk.service.asService('database-studio')
  const validation = (
    slug: string,
    code: string,
    more: {
      whenUnavailable?: string
      on?: string[]
      filter?: object
      status?: 'suspended'
      limits?: object
    } = {},
  ) => {
    const { whenUnavailable = 'fail_open', on = ['create'], filter, ...artifact } = more
    const rule = { events: [], filter, validates: { tables: [tableOf(slug)], on, whenUnavailable } }
    return sdk.install({ slug, code, kind: 'business_rule', rule, ...artifact })
  }
  artifactIds.serials = await validation('serials', needsSerial, {
    on: ['create', 'update'],
    filter: { kind: 'laptop' },
  })
  await validation(
    'seen',
    `export default (input) => ({ faults: [{ index: 0, message: JSON.stringify(input) }] })`,
    {
      on: ['update', 'delete'],
    },
  )
  for (const whenUnavailable of ['fail_open', 'fail_closed'] as const) {
    const of = (name: string) => `${name}-${whenUnavailable === 'fail_open' ? 'open' : 'closed'}`
    await validation(of('throws'), `export default () => { throw new Error('broken') }`, { whenUnavailable })
    await validation(of('endless'), `export default function () { for (;;); }`, {
      ...{ whenUnavailable, limits: { cpuMs: 50 } },
    })
    await validation(
      of('odd'),
      `export default () => ({ faults: [{ index: 7, message: 'of no record' }] })`,
      {
        whenUnavailable,
      },
    )
    await validation(of('away'), needsSerial, { whenUnavailable, status: 'suspended' })
  }
  await validation('large', needsSerial, { limits: { inputBytes: 4_096 } })
  const found = (await sdk.service.sql`select distinct workspace_id as id from artifacts`)[0]
  workspaceId = String(found?.id)
})
afterAll(() => sdk?.stop())

const tableOf = (slug: string) => slug.replaceAll('-', '_')

const ask = async (
  batch: ChangedRecords[],
  more: Partial<ValidationQuestion> = {},
): Promise<ValidationAnswer> => {
  const question = {
    workspaceId,
    environment: 'production',
    actorId: 'usr_1',
    requestId: null,
    causationId: null,
  }
  return (await studio.post('/internal/rules/validate', { ...question, batch, ...more })).data(
    ValidationAnswer,
  )
}
const creating = (slug: string, ...records: object[]): ChangedRecords => ({
  ...{ table: tableOf(slug), operation: 'create', records: records as ChangedRecords['records'] },
})
const lastOf = async (slug: string) =>
  (await sdk.api.get(`/origin/api/service-sdk/artifacts/${slug}/executions?limit=1`)).page(Execution).items[0]

it('a fault has its index in the batch, and a validation receives only the records that match its filter', async () => {
  const id = newId('record')
  const answer = await ask([
    creating('nobodys', { kind: 'laptop' }),
    creating('serials', { kind: 'desk' }, { kind: 'laptop', serial: 'A-1' }, { id, kind: 'laptop' }),
  ])
  const fault = { batch: 1, index: 2, column: 'serial', code: 'refused_by_rule', message: 'is needed' }
  expect(answer).toEqual({ faults: [{ ...fault, artifact: 'serials' }], unavailable: [] })
  const execution = await lastOf('serials')
  expect(execution).toMatchObject({
    artifact_slug: 'serials',
    status: 'completed',
    trigger_type: 'api',
    trigger_id: 'usr_1',
  })
  expect(execution?.input).toMatchObject({ table: 'serials', operation: 'create', records: [{}, { id }] })
  const about = `/origin/api/service-sdk/artifacts/${artifactIds.serials}/related-executions?recordId=${id}`
  expect((await sdk.api.get(about)).page(Execution).items.map((each) => each.id)).toEqual([execution?.id])
})

it('a validation receives records before and after the change, also when the change makes the filter fail', async () => {
  const before = [{ kind: 'laptop', serial: 'A-1' }]
  const update = { operation: 'update', records: [{ kind: 'desk', serial: null }], before } as const
  const { faults } = await ask([
    { table: 'seen', ...update, records: [...update.records], before },
    { table: 'serials', ...update, records: [...update.records], before },
    { table: 'seen', operation: 'delete', records: [{ id: 'rec_1' }] },
  ])
  const messages = faults
    .filter(({ artifact }) => artifact === 'seen')
    .map(({ message }) => JSON.parse(message) as unknown)
  expect(messages).toEqual([
    { table: 'seen', ...update },
    { table: 'seen', operation: 'delete', records: [{ id: 'rec_1' }] },
  ])
  expect(faults.filter(({ artifact }) => artifact === 'serials')).toHaveLength(1)
})

it.each([
  ['throws', 'failed', 'broken'],
  ['endless', 'timeout', 'computes'],
  ['odd', 'failed', '/faults/0/index'],
  ['away', undefined, 'suspended'],
])(
  'a validation that is unavailable (%s) accepts records if it fails open, and is reported if it fails closed',
  async (name, status, reason) => {
    expect(await ask([creating(`${name}-open`, {})])).toEqual({ faults: [], unavailable: [] })
    const { faults, unavailable } = await ask([creating(`${name}-closed`, {})])
    expect(faults).toEqual([])
    expect(unavailable).toMatchObject([
      { artifact: `${name}-closed`, reason: expect.stringContaining(reason) },
    ])
    expect((await lastOf(`${name}-closed`))?.status).toBe(status)
  },
)

it('a validation receives every record of a batch that exceeds its input limit', async () => {
  const filled = Array.from({ length: 20 }, (_, index) => ({
    text: 'x'.repeat(1_000),
    serial: index === 17 ? '' : 'A-1',
  }))
  const { faults, unavailable } = await ask([creating('large', ...filled)])
  expect([faults.map(({ index }) => index), unavailable]).toEqual([[17], []])
})

it("stops chains of executions that cause each other's writes at the maximum depth", async () => {
  const execution = await lastOf('serials')
  const causedBy = (depth: number) =>
    sdk.service.sql`update executions set depth = ${depth} where id = ${execution?.id ?? ''}`
  const cause = { causationId: execution?.id ?? null }
  await causedBy(9)
  expect((await ask([creating('serials', { kind: 'laptop' })], cause)).faults).toHaveLength(1)
  const [deepest] = await sdk.service.sql`select max(depth) as depth from executions`
  expect(deepest?.depth).toBe(10)
  await causedBy(10)
  expect(await ask([creating('throws-closed', {})], cause)).toMatchObject({
    unavailable: [{ reason: 'The chain of causes is longer than allowed.' }],
  })
})

it('a validation applies to its own environment and workspace only, and answers only the database studio', async () => {
  const batch = [creating('serials', { kind: 'laptop' })]
  const none = { faults: [], unavailable: [] }
  expect(await ask(batch, { environment: 'staging' })).toEqual(none)
  expect(await ask(batch, { workspaceId: newId('workspace') })).toEqual(none)
  const refused = await sdk.service.asService('apps').post('/internal/rules/validate', { batch })
  expect(refused.status).toBe(403)
})
