import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Execution, idFactory, newId } from '@opsplane/contracts'
import { deleteAged } from '@opsplane/eventstore'
import { listPartitions } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { type Receiver, startReceiver, testPrincipal, waitFor } from '@opsplane/testing'
import { dumpAllRows, type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'
import { agedExecutions, deleteResults } from './retention.js'

const log = '/origin/api/service-sdk'
/** A workspace with a small trace quota. */
const narrow = newId('workspace')
let world: SdkFixture
let receiver: Receiver
let release: () => void = () => {}

beforeAll(async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  receiver = await startReceiver({ tls: false, respond: () => released.then(() => ({ status: 200 })) })
  world = await startSdk({
    ...{ SDK_ALLOW_HTTP: 'loopback', SDK_ALLOWED_CIDRS: '127.0.0.1/32' },
    WORKSPACE_LIMITS: JSON.stringify({ [narrow]: { traceBytesPerDay: 2_000 } }),
  })
  await world.install({ slug: 'echo', code: 'export default async function (input) { return input }' })
  await world.install({
    slug: 'hangs',
    code: 'export default function () { for (;;); }',
    limits: { wallMs: 50 },
  })
  await world.install({
    slug: 'waits',
    permissions: { http: ['127.0.0.1'] },
    code: `export default async function ({ password }, host) {
      await host.http({ url: '${receiver.url}' })
      return { length: password.length, said: 'it was ' + password }
    }`,
  })
})
afterAll(async () => {
  release()
  await world?.stop()
  await receiver?.stop()
})

const invoke = async (slug: string, body: object) =>
  (await world.api.post(`/sdk/artifacts/${slug}/invoke`, body)).data(Execution)
const read = async (id: string) => (await world.api.get(`${log}/executions/${id}`)).data(Execution)
const ids = async (query: string) =>
  (await world.api.get(`${log}/executions?${query}`)).page(Execution).items.map(({ id }) => id)

describe('secrets in an input', () => {
  it('of an asynchronous execution are sealed until it ends, and deleted afterwards', async () => {
    const password = 'correct horse battery staple'
    const { id } = await invoke('waits', { mode: 'async', input: { password, note: 'plain to see' } })
    await waitFor(() => receiver.received().length === 1)
    const meanwhile = await dumpAllRows(world.service)
    expect(meanwhile).toContain('plain to see')
    expect(meanwhile).toContain('sealedInput')
    for (const spelling of [password, Buffer.from(password).toString('base64')])
      expect(meanwhile).not.toContain(spelling)
    release()
    await waitFor(async () => (await read(id)).status === 'completed')
    expect(await read(id)).toMatchObject({
      input: { password: '***', note: 'plain to see' },
      output: { length: password.length, said: 'it was ***' },
    })
    const after = await dumpAllRows(world.service)
    expect(after).not.toContain(password)
    expect(after).not.toContain('sealedInput')
  })

  it('are masked in lists, in numbers, and in all fields below a secret field', async () => {
    const given = { api_key: ['first-key', 'second-key'], pin: 1, credentials: { user: 'ada', code: 4711 } }
    const { id } = await invoke('echo', { input: given })
    const { input, output } = await read(id)
    const masked = { api_key: ['***', '***'], pin: 1, credentials: { user: '***', code: '***' } }
    expect(input).toEqual(masked)
    expect(JSON.stringify(output)).not.toContain('first-key')
  })
})

describe('an execution beyond the trace quota', () => {
  const text = 'x'.repeat(3_000)
  const code = `export default async function ({ text, fails }, host) {
    host.log('it was ' + text)
    if (fails) throw new Error('no luck')
    return { said: text }
  }`
  const outcomes = [
    [false, { status: 'completed', output: { said: text }, error: null }],
    [true, { status: 'failed', output: null, error: { message: 'no luck' } }],
  ] as const
  const as = (tokenId: string) => world.service.as({ ...testPrincipal({ workspaceId: narrow }), tokenId })
  const readAs = async (id: string, tokenId: string) =>
    (await as(tokenId).get(`${log}/executions/${id}`)).data(Execution)
  const [key, session] = [newId('token'), newId('session')]
  const ask = async (body: object, requestKey: string = newId('request')) =>
    (await as(key).post('/sdk/artifacts/says/invoke', body, { 'idempotency-key': requestKey })).data(
      Execution,
    )
  beforeAll(async () => {
    await world.install({ slug: 'says', code }, { workspaceId: narrow })
    const within = await ask({ input: { text: 'short' } })
    expect(within).not.toHaveProperty('omitted')
    expect(await readAs(within.id, session)).toEqual(within)
  })

  it.each(outcomes)(
    'returns its full result, also when repeated, but is stored without values (fails: %s)',
    async (fails, given) => {
      const requestKey = newId('request')
      const first = await ask({ input: { text, fails } }, requestKey)
      expect(first).toMatchObject({ ...given, omitted: true })
      expect(await ask({ input: { text, fails } }, requestKey)).toEqual(first)
      expect(await readAs(first.id, key)).toEqual(first)
      const { status, error } = given
      const kept = { status, error, omitted: true, input: null, output: null, logs: [] }
      expect(await readAs(first.id, session)).toMatchObject(kept)
      const [listed] = (await as(session).get(`${log}/executions?limit=1`)).page(Execution).items
      expect(listed).toMatchObject({ id: first.id, ...kept })
      expect(await dumpAllRows(world.service)).not.toContain(text)
      const replay = (body: object) => as(session).post(`${log}/executions/${first.id}/replay`, body)
      expect((await replay({})).error()).toMatchObject({ details: [{ path: '/input', code: 'omitted' }] })
      expect((await replay({ input: { text, fails } })).data(Execution)).toMatchObject(given)
    },
  )

  it('that was accepted asynchronously runs with its input, which is omitted afterwards', async () => {
    const { id } = await ask({ mode: 'async', input: { text } })
    await waitFor(async () => (await readAs(id, session)).status === 'completed')
    expect(await readAs(id, key)).toMatchObject({ omitted: true, input: null, output: { said: text } })
  })
})

describe('the success filter', () => {
  it('treats a timeout as a failure', async () => {
    const hung = await invoke('hangs', {})
    const done = await invoke('echo', {})
    expect(await ids('success=false&limit=5')).toEqual([hung.id])
    expect(await ids('success=true&limit=1')).toEqual([done.id])
  })
})

describe('retention', () => {
  it('deletes unmasked results after the lifetime of Idempotency-Keys', async () => {
    const { sql } = world.service
    const nowMs = Date.parse('2031-06-15T12:00:00.000Z')
    const hours = [1, 23, 49, 500]
    const ids = hours.map((ago) => idFactory(() => nowMs - ago * 3_600_000)('execution'))
    for (const id of ids)
      await sql`insert into execution_results (execution_id, sealed) values (${id}, 'sealed')`
    await deleteResults(sql as never, nowMs)
    const left = await sql<{ id: string }[]>`
      select execution_id as id from execution_results where execution_id = any(${ids})`
    expect(left.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 2).toSorted())
  })

  it('deletes executions older than the retention of their workspace, and drops months with nothing to keep', async () => {
    const { sql } = world.service
    const days = { kept: 90, longer: 365 }
    const nowMs = Date.parse('2031-06-15T12:00:00.000Z')
    const at = (daysAgo: number) => nowMs - daysAgo * 24 * 3_600_000
    const put = async (workspaceId: string, daysAgo: number, completed = true) => {
      const ms = at(daysAgo)
      const id = idFactory(() => ms)('execution')
      const day = new Date(ms).toISOString()
      await sql`select add_execution_month(${day}::date)`
      await sql`insert into executions (id, workspace_id, environment, artifact_id, artifact_slug, artifact_version,
          artifact_type, execution_type, trigger_type, status, input, started_at, completed_at, bytes, depth)
        values (${id}, ${workspaceId}, 'production', 'art_1', 'echo', 1, 'api', 'api', 'api',
          ${completed ? 'failed' : 'running'}, '{}', ${day}, ${completed ? day : null}, 2, 0)`
      await sql`insert into execution_records (execution_id, record_id, table_name, workspace_id, environment)
        values (${id}, 'rec_1', 'assets', ${workspaceId}, 'production')`
      return id
    }
    const kept = [await put('kept', 89), await put('longer', 364), await put('kept', 400, false)]
    await put('kept', 91)
    await put('longer', 366)
    await put('kept', 500)
    const daysOf = async (workspaceIds: string[]) =>
      Object.fromEntries(Object.entries(days).filter(([id]) => workspaceIds.includes(id)))
    const silent = createLogger({ service: 'test', level: 'silent' })
    await deleteAged(
      { sql: sql as never, log: silent, of: agedExecutions, daysOf, nowMs: () => nowMs },
      new AbortController().signal,
    )
    const left = async (table: string, column: string) =>
      (
        await sql`select ${sql(column)} as id from ${sql(table)} where workspace_id = any(${Object.keys(days)})`
      )
        .map(({ id }) => id)
        .toSorted()
    expect(await left('executions', 'id')).toEqual(kept.toSorted())
    expect(await left('execution_records', 'execution_id')).toEqual(kept.toSorted())
    // The month of the 500-day-old execution was dropped as a whole.
    expect(await listPartitions(sql, 'executions')).not.toContain('executions_203001')
  })
})
