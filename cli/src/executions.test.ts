import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError, errorBody } from '@opsplane/contracts'
import { type Receiver, type ReceiverResponse, startReceiver } from '@opsplane/testing'
import type { Io } from './io.js'
import { runCli } from './program.js'

let server: Receiver
let answers: ReceiverResponse[]
beforeEach(async () => {
  answers = []
  server = await startReceiver({ tls: false, respond: () => answers.shift() ?? { status: 404 } })
})
afterEach(() => server.stop())

async function run(...args: string[]) {
  let [out, err] = ['', '']
  const io: Io = {
    env: { OPSPLANE_URL: server.url, OPSPLANE_API_KEY: 'ops_key', OPSPLANE_WORKSPACE: 'acme' },
    out: (text) => (out += text),
    async write(text) {
      out += text
    },
    err: (text) => (err += text),
    columns: undefined,
    readInput: async () => '',
    askSecret: undefined,
    interruption: () => new AbortController().signal,
    nowMs: () => Date.parse('2026-01-31T12:00:00Z'),
  }
  return { code: await runCli(['executions', ...args], io), out, err }
}

const json = (status: number, body: object): ReceiverResponse => ({
  ...{ status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
})
const data = (value: object) => json(200, { data: value })
const page = (...items: object[]) =>
  json(200, { data: items, pagination: { nextCursor: null, hasMore: false, limit: 50 } })

const anExecution = (n: number, more = {}) => ({
  ...{ id: `exec_01JZ8Q4D3N5W7X9Y2B4C6D8E0${n}`, artifact_slug: 'sync', artifact_version: 2 },
  ...{ trigger_type: 'webhook', trigger_id: 'evt_1', status: 'failed', input: { a: 1 }, output: null },
  error: { code: 'refused', message: 'No.', stack: '    at sync (sync.ts:3:9)\n' },
  logs: [{ level: 'warn', message: 'slow', data: { ms: 9 }, ts: '2026-01-31T11:00:00.000Z' }],
  ...{ duration_ms: 12, memory_peak_mb: 3, environment: 'production', workspace_id: 'ws_1' },
  ...{ started_at: '2026-01-31T11:00:00.000Z', completed_at: '2026-01-31T11:00:00.012Z' },
  ...more,
})
const paths = () => server.received().map(({ path }) => path)

describe('executions command', () => {
  test('list passes all filters to the API of the SDK service', async () => {
    answers.push(page(anExecution(1)), page(), page())
    const filters = ['--failed', '--type=api', '--trigger=webhook', '--trigger-id=evt_1', '--record=inc_1']
    const { code, out } = await run('list', ...filters, '--table=incident', '--limit=7')
    expect(code).toBe(0)
    expect(out).toMatch(/exec_01JZ8Q4D3N5W7X9Y2B4C6D8E01 +failed +sync v2 +webhook .* 12 +refused: No\./)
    await run('list', '--artifact=sync/it', '--status=completed')
    await run('list', '--succeeded', '--artifact-type=business_rule')
    expect(paths()).toEqual([
      '/api/service-sdk/executions?success=false&executionType=api&triggerType=webhook&triggerId=evt_1' +
        '&recordId=inc_1&tableName=incident&limit=7',
      '/api/service-sdk/artifacts/sync%2Fit/executions?status=completed&limit=50',
      '/api/service-sdk/executions?artifactType=business_rule&success=true&limit=50',
    ])
  })

  test('show prints the input, the error and the log of an execution', async () => {
    answers.push(data(anExecution(1)), data(anExecution(1)))
    const { out } = await run('show', 'exec_1')
    expect(out).toContain('input      {"a":1}\n')
    expect(out).toContain('! refused: No.\n    at sync (sync.ts:3:9)\n')
    expect(out).toContain('warn   slow  {"ms":9}')
    expect(JSON.parse((await run('show', 'exec_1', '--json')).out)).toEqual(anExecution(1))
    expect(paths()[0]).toBe('/api/service-sdk/executions/exec_1')
  })

  test('tail prints each new execution once, oldest first', async () => {
    answers.push(page(anExecution(1)), page(anExecution(3), anExecution(2), anExecution(1)))
    const { code, out } = await run('tail', '--json', '--limit=2')
    expect(code).toBe(0)
    const ids = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids).toEqual([anExecution(2).id, anExecution(3).id])
  })

  test('replay sends another input and version, and exits with code 1 when the execution fails again', async () => {
    const replay = { replay_of: anExecution(1).id, trigger_type: 'manual' }
    answers.push(data(anExecution(2, { ...replay, status: 'completed', error: null })))
    const done = await run('replay', 'exec_1', '--input={"a":2}', '--artifact-version=3', '--json')
    expect([done.code, JSON.parse(done.out).replay_of]).toEqual([0, anExecution(1).id])
    answers.push(data(anExecution(2, replay)))
    expect(await run('replay', 'exec_1')).toMatchObject({ code: 1, err: expect.stringContaining('failed') })
    answers.push(json(202, { data: anExecution(2, { ...replay, status: 'running', error: null }) }))
    expect((await run('replay', 'exec_1', '--async')).code).toBe(0)
    expect(server.received().map(({ path, rawBody }) => [path, JSON.parse(String(rawBody))])).toEqual([
      ['/api/service-sdk/executions/exec_1/replay', { mode: 'sync', input: { a: 2 }, version: 3 }],
      ['/api/service-sdk/executions/exec_1/replay', { mode: 'sync' }],
      ['/api/service-sdk/executions/exec_1/replay', { mode: 'async' }],
    ])
  })

  test('uses the same exit codes as the other commands', async () => {
    expect((await run('replay', 'exec_1', '--input={')).code).toBe(2)
    expect((await run('list', '--failed', '--status=failed')).code).toBe(2)
    expect((await run('list', '--failed', '--succeeded')).code).toBe(2)
    expect((await run('list', '--artifact=sync', '--artifact-type=api')).code).toBe(2)
    const notFound = new ApiError('not_found', 'There is none.')
    answers.push(json(404, errorBody(notFound, 'req_seen')))
    expect(await run('show', 'exec_1')).toMatchObject({ code: 1, out: '' })
    const tooMany = new ApiError('rate_limited', 'Full.', { headers: { 'Retry-After': '60' } })
    answers.push({ ...json(429, errorBody(tooMany, 'req_seen')), headers: { 'retry-after': '60' } })
    expect((await run('replay', 'exec_1')).code).toBe(3)
  })
})
