import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Execution, ExecutionChanges, executionChangesPath, FailureGroup, newId } from '@opsplane/contracts'
import { followChanges, testPrincipal, waitFor } from '@opsplane/testing'
import { type SdkFixture, startSdk } from './invoke.fixture.js'

let world: SdkFixture
beforeAll(async () => {
  world = await startSdk()
  await world.install({
    slug: 'echo',
    code: 'export default async function (input) { return ({ got: input }) }',
  })
  await world.install({
    slug: 'fails',
    code: `export default async function () { throw Object.assign(new Error('no luck'), { code: 'luck' }) }`,
  })
  await world.install({
    slug: 'hangs',
    code: 'export default function () { for (;;); }',
    limits: { wallMs: 50 },
  })
  await world.install({
    slug: 'patient',
    code: 'export default function () { for (;;); }',
    limits: { wallMs: 60_000, cpuMs: 10_000 },
  })
  await world.install({
    slug: 'typed',
    code: 'export default async function ({ n }) { return n * 2 }',
    inputSchema: { type: 'object', properties: { n: { type: 'integer', default: 21 } }, required: ['n'] },
    outputSchema: { type: 'integer', maximum: 100 },
  })
})
afterAll(() => world?.stop())

const log = '/origin/api/service-sdk'
const invoke = (slug: string, body: object = {}, headers: Record<string, string> = {}) =>
  world.api.post(`/sdk/artifacts/${slug}/invoke`, body, headers)
const read = async (id: string) => (await world.api.get(`${log}/executions/${id}`)).data(Execution)
const inLog = async (query: string) =>
  (await world.api.get(`${log}/executions?${query}`)).page(Execution).items

describe('an invocation', () => {
  it('returns its execution, which is in the log with the same id and fields', async () => {
    const answer = await invoke('echo', { input: { text: 'Hello' } })
    expect(answer.status).toBe(200)
    const execution = answer.data(Execution)
    expect(execution).toMatchObject({
      ...{ artifact_slug: 'echo', artifact_version: 1, status: 'completed', error: null, logs: [] },
      ...{ input: { text: 'Hello' }, output: { got: { text: 'Hello' } }, environment: 'production' },
      ...{ memory_peak_mb: expect.any(Number), trigger_type: 'manual' },
    })
    expect(execution).not.toHaveProperty('replay_of')
    expect(await read(execution.id)).toEqual(execution)
  })

  it.each([
    ['fails', 'failed', 'error'],
    ['hangs', 'timeout', 'wall_timeout'],
  ])('of an artifact that %s is recorded and returned as %s', async (slug, status, code) => {
    const execution = (await invoke(slug)).data(Execution)
    expect(execution).toMatchObject({ status, output: null, error: { code } })
    expect(await read(execution.id)).toEqual(execution)
    const events = await world.service.sql`
      select type, data->'after'->>'status' as status, data->'after'->'error'->>'code' as code from events
      where stream_id = ${execution.id}`
    expect([...events]).toEqual([{ type: 'sdk.execution.failed', status, code }])
  })

  it('times out earlier when a shorter timeout is requested', async () => {
    const execution = (await invoke('patient', { timeoutMs: 20 })).data(Execution)
    expect(execution).toMatchObject({ status: 'timeout' })
  })

  it('applies the defaults of the input schema, and is rejected if the input violates it', async () => {
    expect((await invoke('typed', { input: {} })).data(Execution)).toMatchObject({
      input: { n: 21 },
      output: 42,
    })
    const refused = await invoke('typed', { input: { n: 'x' } })
    expect(refused.error()).toMatchObject({ code: 'validation_failed', details: [{ path: '/input/n' }] })
    expect((await invoke('typed', { input: { n: 60 } })).data(Execution)).toMatchObject({
      ...{ status: 'failed', error: { code: 'invalid_output' } },
    })
  })

  it('returns 404 for an artifact that does not exist in this environment and workspace', async () => {
    await world.install(
      { slug: 'staged', code: 'export default async function () { return 1 }' },
      { environment: 'staging' },
    )
    expect((await invoke('unknown')).status).toBe(404)
    const version = [{ path: '/version', code: 'unknown_version' }]
    expect((await invoke('echo', { version: 7 })).error().details).toMatchObject(version)
    expect((await invoke('staged')).status).toBe(404)
    const stranger = world.service.as(testPrincipal({ workspaceId: newId('workspace') }))
    expect((await stranger.post('/sdk/artifacts/echo/invoke', {})).status).toBe(404)
  })

  it('requires the permission to invoke, and is rejected for a suspended artifact', async () => {
    const reader = world.service.as(testPrincipal({ permissions: ['sdk:read'] }))
    expect((await reader.post('/sdk/artifacts/echo/invoke', {})).error().code).toBe('insufficient_scope')
    await world.install({
      slug: 'rests',
      code: 'export default async function () { return 1 }',
      status: 'suspended',
    })
    expect((await invoke('rests')).error().details[0]).toMatchObject({ code: 'artifact_suspended' })
  })
})

describe('an invocation by a user who may use no secrets', () => {
  it.each([
    ['whose value it reads', 'reads', `host.secret({ name: 'token', plain: true })`],
    ['it sends', 'sends', `host.http({ url: 'https://example.com/{{secrets.token}}' })`],
  ])('cannot access a secret %s, synchronously or asynchronously', async (_, slug, call) => {
    await world.install({
      ...{ slug, code: `export default async function (_, host) { return ${call} }` },
      permissions: { secretsPlain: ['token'], http: ['example.com'] },
    })
    const { principal, service } = world
    const limited = service.as({
      ...testPrincipal({ permissions: ['sdk:invoke'] }),
      workspaceId: principal.workspaceId,
    })
    for (const mode of ['sync', 'async']) {
      const answer = await limited.post(`/sdk/artifacts/${slug}/invoke`, { mode })
      const { id } = answer.data(Execution)
      await waitFor(async () => (await read(id)).status !== 'running')
      expect(await read(id)).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('may not use secrets') },
      })
    }
    expect(world.settings.asked).toEqual([])
  })
})

describe('an asynchronous invocation', () => {
  it('is accepted, runs in the background and is logged when it ends', async () => {
    const answer = await invoke('echo', { mode: 'async', input: 7 })
    expect(answer.status).toBe(202)
    const { id } = answer.data(Execution)
    await waitFor(async () => (await read(id)).status === 'completed')
    expect(await read(id)).toMatchObject({ output: { got: 7 } })
  })

  it('can be cancelled only once', async () => {
    const { id } = (await invoke('patient', { mode: 'async' })).data(Execution)
    const cancelled = (await world.api.post(`${log}/executions/${id}/cancel`)).data(Execution)
    expect(cancelled).toMatchObject({ id, status: 'cancelled' })
    const again = await world.api.post(`${log}/executions/${id}/cancel`)
    expect(again.error().code).toBe('invalid_state_transition')
    expect(await read(id)).toEqual(cancelled)
  })
})

describe('an Idempotency-Key', () => {
  it('leads to one execution for repeated requests, even if the stored response was lost', async () => {
    const headers = { 'idempotency-key': newId('request') }
    const first = (await invoke('echo', { input: 1 }, headers)).data(Execution)
    // Simulates that the response was not stored: the log contains the execution.
    await world.service.sql`delete from idempotency_keys`
    expect((await invoke('echo', { input: 1 }, headers)).data(Execution)).toEqual(first)
    expect((await invoke('echo', { input: 1 }, headers)).headers.get('idempotency-replayed')).toBe('true')
    await world.service.sql`delete from idempotency_keys`
    expect((await invoke('echo', { input: 2 }, headers)).error().code).toBe('idempotency_key_reused')
  })

  it('starts a new execution after a failure only with retryFailed', async () => {
    const headers = { 'idempotency-key': newId('request') }
    const body = { input: 1, retryFailed: true }
    // The test client itself sends the request twice.
    await expect(invoke('fails', body, headers)).rejects.toThrow('the repetition answers another body')
    const strict = { 'idempotency-key': newId('request') }
    const failed = (await invoke('fails', {}, strict)).data(Execution)
    expect((await invoke('fails', {}, strict)).data(Execution)).toEqual(failed)
  })
})

describe('the log', () => {
  it('finds executions by combined filters and by related records', async () => {
    const incidentId = newId('incident')
    await world.install({
      ...{ slug: 'rule', kind: 'business_rule', code: 'export default async function () { return 1 }' },
      rule: { events: ['incident.*'] },
    })
    const done = (await invoke('rule', { input: { incidentId } })).data(Execution)
    const failed = (await invoke('fails', { input: { incidentId } })).data(Execution)
    const ids = async (query: string) => (await inLog(`${query}&recordId=${incidentId}`)).map(({ id }) => id)
    expect(await ids('limit=10')).toEqual([failed.id, done.id])
    expect(await ids('success=true')).toEqual([done.id])
    expect(await ids('success=false')).toEqual([failed.id])
    expect(await ids('artifactType=business_rule')).toEqual([done.id])
    expect(await ids('artifactType=business_rule&executionType=business_rule')).toEqual([])
    expect(await ids('executionType=api&tableName=incident&triggerType=manual')).toEqual([failed.id, done.id])
    expect(await ids('tableName=change')).toEqual([])
    expect(await ids('triggerType=scheduled_job')).toEqual([])
    const related = await world.api.get(`${log}/artifacts/rule/related-executions?recordId=${incidentId}`)
    expect(related.page(Execution).items).toEqual([done])
    expect((await world.api.get(`${log}/artifacts/rule/related-executions`)).error()).toMatchObject({
      ...{ code: 'validation_failed', details: [{ in: 'query', path: '/recordId' }] },
    })
    expect((await world.api.get(`${log}/executions?sucess=true`)).status).toBe(422)
    const ofOne = await world.api.get(`${log}/artifacts/rule/executions`)
    expect(ofOne.page(Execution).items).toEqual([done])
  })

  it('returns each execution once across pages', async () => {
    for (let n = 0; n < 5; n++) await invoke('typed', { input: { n } })
    const seen: string[] = []
    let after: string | null = ''
    while (after !== null) {
      const query: string = `limit=2${after === '' ? '' : `&after=${after}`}`
      const answer = await world.api.get(`${log}/artifacts/typed/executions?${query}`)
      const { items, pagination } = answer.page(Execution)
      seen.push(...items.map(({ id }) => id))
      after = pagination.nextCursor
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(seen.toSorted().reverse())
    expect(seen.length).toBeGreaterThanOrEqual(5)
  })

  it('is visible in its own tenant only, and requires the permission to read it', async () => {
    const { id } = (await invoke('echo')).data(Execution)
    for (const other of [{ workspaceId: newId('workspace') }, { environment: 'staging' as const }]) {
      const stranger = world.service.as(testPrincipal(other))
      expect((await stranger.get(`${log}/executions/${id}`)).status).toBe(404)
      expect((await stranger.get(`${log}/executions`)).page(Execution).items).toEqual([])
    }
    const without = world.service.as(testPrincipal({ permissions: ['sdk:read', 'sdk:invoke'] }))
    expect((await without.get(`${log}/executions`)).error().code).toBe('insufficient_scope')
  })
})

describe('the feed of execution changes', () => {
  it('reports each ended execution to analytics only, whatever its status', async () => {
    const changes = async (after: number) =>
      (await world.service.asService('analytics').get(`${executionChangesPath}?after=${after}`)).data(
        ExecutionChanges,
      ).changes
    const before = (await changes(0)).at(-1)?.position ?? 0
    const done = (await invoke('echo')).data(Execution)
    const failed = (await invoke('fails')).data(Execution)
    const { id } = (await invoke('patient', { mode: 'async' })).data(Execution)
    await world.api.post(`${log}/executions/${id}/cancel`)
    const reported = (await changes(before)).map(({ change }) => change)
    expect(reported).toMatchObject([
      { id: done.id, status: 'completed', artifactSlug: 'echo', errorCode: null, startedAt: done.started_at },
      { id: failed.id, status: 'failed', errorCode: failed.error?.code, completedAt: failed.completed_at },
      { id, status: 'cancelled' },
    ])
    expect((await world.service.asService('dispatcher').get(`${executionChangesPath}?after=0`)).status).toBe(
      403,
    )
  })
})

describe('the list of current failures', () => {
  it('groups executions by artifact and error message, until a replay succeeds', async () => {
    const id = await world.install({
      slug: 'fussy',
      code: `export default async function ({ known, missing, order }) {
        if (known) return 'ordered'
        throw new Error(missing ? 'nothing to order' : 'no order ' + order)
      }`,
    })
    const { changed, close } = await followChanges(world.service, world.principal)
    const fail = async (input: object) => (await invoke('fussy', { input })).data(Execution).id
    const groups = async () =>
      (await world.api.get(`${log}/executions/failures?limit=200`))
        .page(FailureGroup)
        .items.filter(({ target }) => target.id === id)
    const first = await fail({ order: 17 })
    const second = await fail({ order: 18 })
    await fail({ missing: true })
    const [missing, unknown, ...others] = await groups()
    expect(others).toEqual([])
    expect(unknown).toMatchObject({
      ...{ target: { type: 'artifact', id }, count: 2, isMore: false },
      cause: { message: 'no order 18' },
    })
    expect(missing).toMatchObject({ count: 1, cause: { message: 'nothing to order' } })

    const replay = async (of: string, input: object) =>
      (await world.api.post(`${log}/executions/${of}/replay`, { input })).data(Execution)
    await replay(first, { known: true })
    const again = await replay(second, { order: 19 })
    expect(again.status).toBe('failed')
    const left = (await groups()).find((group) => group.id === unknown?.id)
    expect(left).toMatchObject({ count: 1, cause: { message: 'no order 19' } })
    await replay(second, { known: true })
    expect((await groups()).map((group) => group.id)).toEqual([missing?.id])
    await waitFor(() => [first, second, again.id].every((each) => changed.has(`execution ${each}`)))
    await close()
    const stranger = world.service.as(testPrincipal())
    expect((await stranger.get(`${log}/executions/failures`)).page(FailureGroup).items).toEqual([])
  })
})

describe('a replay', () => {
  it('is an execution of its own with the same or a new input, and leaves the original unchanged', async () => {
    const original = (await invoke('echo', { input: { a: 1 } })).data(Execution)
    const replay = async (body?: object) =>
      (await world.api.post(`${log}/executions/${original.id}/replay`, body)).data(Execution)
    const same = await replay()
    expect(same).toMatchObject({
      ...{ replay_of: original.id, input: { a: 1 }, output: { got: { a: 1 } }, trigger_type: 'manual' },
    })
    expect(await replay({ input: { a: 2 } })).toMatchObject({
      replay_of: original.id,
      output: { got: { a: 2 } },
    })
    expect(await read(original.id)).toEqual(original)
    expect((await world.api.post(`${log}/executions/${newId('execution')}/replay`)).status).toBe(404)
    const path = `${log}/executions/${original.id}/replay`
    expect((await world.api.post(path, { version: 7 })).error().details).toMatchObject([{ path: '/version' }])
    await world.service
      .sql`update artifacts set state = (state::jsonb || '{"status":"removed"}')::json where slug = 'echo'`
    expect((await world.api.post(path)).error()).toMatchObject({
      ...{ code: 'conflict', message: expect.stringContaining('not installed any more') },
    })
    await world.service
      .sql`update artifacts set state = (state::jsonb || '{"status":"active"}')::json where slug = 'echo'`
  })

  it('of an input that is masked requires a new input', async () => {
    const original = (await invoke('echo', { input: { user: 'ada', password: 'hunter2' } })).data(Execution)
    expect(original.input).toEqual({ user: 'ada', password: '***' })
    const [row] = await world.service
      .sql`select row_to_json(e)::text as row from executions e where id = ${original.id}`
    expect(row?.row).not.toContain('hunter2')
    const path = `${log}/executions/${original.id}/replay`
    expect((await world.api.post(path)).error().details[0]).toMatchObject({ path: '/input', code: 'masked' })
    expect((await world.api.post(path, { input: {} })).status).toBe(200)
  })
})
