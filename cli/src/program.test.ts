import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { type CliFixture, json, refusal, startCliFixture } from './fixture/program-fixture.js'

let fixture: CliFixture
let { folder, server, answers, run, asUser } = {} as CliFixture
beforeEach(async () => {
  fixture = await startCliFixture()
  ;({ folder, server, answers, run, asUser } = fixture)
})
afterEach(() => fixture?.stop())

const nothing = { data: [], pagination: { nextCursor: null, hasMore: false, limit: 50 } }

describe('exit code 2: wrong usage', () => {
  test.each([
    ['no command', [], 'Usage: opsplane'],
    ['an unknown command', ['fly'], "unknown command 'fly'"],
    ['an unknown option', ['webhooks', 'list', '--colour'], "unknown option '--colour'"],
    ['a missing argument', ['webhooks', 'get'], "missing required argument 'webhook'"],
    ['one argument too many', ['webhooks', 'get', 'wh_1', 'wh_2'], 'too many arguments'],
    [
      'a value that is none of the choices',
      ['deliveries', 'list', 'wh_1', '--status', 'lost'],
      'pending, retrying',
    ],
    ['a strange time', ['deliveries', 'list', 'wh_1', '--since', 'tea'], '15m, 2h, 7d ago'],
    ['a strange number', ['webhooks', 'list', '--limit', '0'], 'from 1'],
    ['options that exclude each other', ['webhooks', 'list', '--all', '--limit', '3'], 'cannot be used with'],
    ['neither a webhook nor an event', ['deliveries', 'list'], '--event'],
    ['a payload that is not JSON', ['topics', 'publish', 't', '--type', 'x', '--payload', '{'], 'not JSON'],
    ['a position without a service', ['reseed', '--from=2'], '--service'],
    ['a strange position', ['reseed', '--service=itsm', '--from=0'], 'from 1'],
    ['an unknown service', ['rebuild', '--service=mail'], 'settings, itsm, dispatcher'],
    ['no platform for its servers', ['status'], 'npm start'],
    ['a strange id', ['dead-letters', 'show', '12'], 'itsm:12'],
    ['neither dead letters nor all', ['dead-letters', 'drop'], '--all'],
    ['no platform for its keys', ['rotate-master-key'], 'npm start'],
    ['no master key', ['rotate-master-key', '--database-url=postgres://x'], 'OPSPLANE_MASTER_KEY'],
    ['no master key on standard input', ['rotate-master-key', '--database-url=x', '--keys-stdin'], 'no key'],
    ['a check that is a dry run', ['rotate-master-key', '--check', '--dry-run'], 'cannot be used with'],
    ['no folder of a backup', ['backup'], '--to <folder>'],
    ['two folders of a backup', ['backup', '--to=a', '--into=b'], 'cannot be used with'],
    ['a count without a folder', ['backup', '--to=a', '--keep=2'], '--into <folder>'],
    ['a strange count', ['backup', '--into=a', '--keep=0'], 'from 1'],
    ['no workspace', ['rotate-data-key'], "required option '--workspace <id>'"],
    ['no event type that matches', ['events', 'tail', '--nats-url=nats://x', '--type=tea.*'], 'tea.*'],
  ])('%s', async (_what, args, advice) => {
    const { code, out, err } = await run(args, asUser())
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(advice)
    expect(server.received()).toEqual([])
  })

  test.each([[['fly']], [['webhooks', 'get']], [['webhooks', 'list', '--colour']]])(
    'the error message suggests --help: %j',
    async (args) => {
      expect((await run(args)).err).toMatch(/^error: .*\nAdd --help to see how it is used.\n$/)
    },
  )

  test('missing credentials', async () => {
    expect(await run(['webhooks', 'list'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('opsplane login'),
    })
  })

  test.each([
    [['login', '--url=x', '--workspace=w', '--password=hunter2']],
    [['login', '--api-key=hunter2']],
  ])('a secret passed as an argument is rejected and not printed: %j', async (args) => {
    const { code, out, err } = await run(args)
    expect(code).toBe(2)
    expect(out + err).not.toContain('hunter2')
  })

  test('an API key that is no valid header value is not printed', async () => {
    const env = { ...asUser().env, OPSPLANE_API_KEY: 'ops_\nhunter2' }
    const { code, out, err } = await run(['webhooks', 'list'], { env })
    expect(code).toBe(2)
    expect(out + err).not.toContain('hunter2')
  })
})

test.each([
  [['--help']],
  [['deliveries', 'list', '--help']],
  [['help', 'events']],
  [['runs', 'tail', '--help']],
  [['executions', '--help']],
  [['executions', 'replay', '--help']],
  [['rebuild', '-h']],
  [['dead-letters', '--help']],
  [['dead-letters', 'redrive', '--help']],
])('help exits with code 0 and prints examples: %j', async (args) => {
  expect(await run(args)).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Examples:') })
})

describe('exit code 1: the request was rejected', () => {
  test('the error is printed in one line with the invalid field and the request id', async () => {
    const details = [{ in: 'query', path: '/limit', code: 'too_big', message: 'is\ntoo big' } as const]
    answers.push(refusal(new ApiError('validation_failed', 'Wrong input.', { details })))
    const { code, out, err } = await run(['webhooks', 'list'], asUser())
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(
      'error: Wrong input. (query /limit: is\\ntoo big) [validation_failed, request req_seen]\n',
    )
  })

  test('the response is not one of the Opsplane API', async () => {
    answers.push({ status: 200, body: '<html>' })
    expect(await run(['webhooks', 'list'], asUser())).toMatchObject({ code: 1 })
  })

  test('the retry of a delivery is rejected', async () => {
    answers.push(refusal(new ApiError('not_found', 'There is none.')))
    const { code, err } = await run(['deliveries', 'retry', 'wh_1', 'del_1'], asUser())
    expect(code).toBe(1)
    expect(err).toContain('del_1: There is none.')
  })
})

describe('exit code 3: the error is temporary', () => {
  test('the platform stays unavailable, and every attempt has the same idempotency key and request id', async () => {
    const away = new ApiError('service_unavailable', 'Not now.', { headers: { 'Retry-After': '0' } })
    answers.push(refusal(away), refusal(away), refusal(away))
    expect(await run(['deliveries', 'replay', 'wh_1', 'del_1'], asUser())).toMatchObject({ code: 3 })
    const headers = server.received().map((request) => request.headers)
    expect(headers).toHaveLength(3)
    expect(new Set(headers.map((all) => all['idempotency-key'])).size).toBe(1)
    expect(new Set(headers.map((all) => all['x-request-id'])).size).toBe(1)
  })

  test('a retry that succeeds exits with code 0 and prints no error', async () => {
    answers.push({ status: 502, body: 'proxy' }, json(200, nothing))
    expect(await run(['webhooks', 'list', '--json'], asUser())).toEqual({ code: 0, out: '[]\n', err: '' })
  })

  test('no server listens at the URL', async () => {
    const { env } = asUser()
    const url = 'http://127.0.0.1:1'
    const { code, err } = await run(['webhooks', 'list'], { env: { ...env, OPSPLANE_URL: url } })
    expect(code).toBe(3)
    expect(err).toContain(url)
  })

  test('Postgres does not answer, and its password is not printed', async () => {
    const { code, err } = await run(['rebuild', '--database-url=postgres://u:hidden@127.0.0.1:1/x'])
    expect(code).toBe(3)
    expect(err).toContain('127.0.0.1:1/x does not answer')
    expect(err).not.toContain('hidden')
  })
})

test('a request carries the API key, the workspace, the environment and all filters', async () => {
  answers.push(json(200, nothing))
  const filters = ['--status=failed', '--status=held', '--type=a.b', '--since=2h', '--limit=7']
  await run(['deliveries', 'list', 'wh/1', '--environment', 'staging', ...filters], asUser())
  const [request] = server.received()
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer ops_key',
    'x-workspace': 'acme',
    'x-environment': 'staging',
  })
  expect(request?.path).toBe(
    '/api/v1/webhooks/wh%2F1/deliveries?status=failed&status=held&eventType=a.b&createdAfter=2026-01-31T10%3A00%3A00.000Z&limit=7',
  )
})

describe('workflow runs command', () => {
  const at = (second: number) => `2026-01-31T11:00:${String(second).padStart(2, '0')}.000Z`
  const ulid = (n: number) => `01JZ8Q4D3N5W7X9Y2B4C6D8E0${n}`
  const aRun = (n: number, more = {}) => ({
    ...{ id: `run_${ulid(n)}`, workflowId: `wf_${ulid(0)}`, workflowName: 'Nightly', workflowVersion: 2 },
    ...{ status: 'failed', triggerType: 'manual', parentRunId: null, attempt: 1 },
    ...{
      error: { code: 'refused', message: 'No.', step: 'each[1].send' },
      version: 3,
      allowedActions: ['retry'],
    },
    ...{ queuedAt: at(n), startedAt: at(n), endedAt: at(n) },
    ...more,
  })
  const step = (place: string, parent: string | null, more = {}) => ({
    ...{
      place,
      parent,
      id: place,
      name: null,
      type: 'http',
      runAttempt: 1,
      status: 'completed',
      startedAt: at(1),
    },
    ...{
      endedAt: at(1),
      durationMs: 12,
      input: { value: null, large: null },
      output: { value: null, large: null },
    },
    ...{
      error: null,
      attempts: [],
      waiting: null,
      decisions: [],
      chosen: null,
      itemCount: null,
      childRunId: null,
    },
    ...more,
  })
  const page = (...data: object[]) => json(200, { ...nothing, data })
  const data = (value: object) => json(200, { data: value })

  test('list passes all filters to the API', async () => {
    answers.push(page(aRun(1)))
    const filters = [
      '--status=failed',
      '--trigger=event',
      '--trigger-id=evt_1',
      '--workflow=wf_1',
      '--since=2h',
      '--limit=7',
    ]
    const { code, out } = await run(['runs', 'list', ...filters], asUser())
    expect(code).toBe(0)
    expect(out).toMatch(/run_01JZ8Q4D3N5W7X9Y2B4C6D8E01 +failed +Nightly v2 .*each\[1\]\.send: refused: No\./)
    expect(server.received()[0]?.path).toBe(
      '/api/v1/runs?status=failed&triggerType=event&triggerId=evt_1&workflowId=wf_1' +
        '&from=2026-01-31T10%3A00%3A00.000Z&limit=7',
    )
  })

  test('show prints the steps of a run as a tree', async () => {
    const error = { code: 'refused', message: 'No.', retryable: false }
    const steps = [
      step('each', null, { type: 'for_each', itemCount: 2 }),
      step('each[0].send', 'each'),
      step('each[1].send', 'each', { status: 'failed', durationMs: 7, error }),
    ]
    const none = { value: null, large: null }
    const trigger = { type: 'manual', id: null, at: at(1) }
    const more = { nextDueAt: null, steps, nextSteps: '200' }
    const detail = { ...aRun(1), trigger, input: none, event: none, output: none, ...more }
    answers.push(data(detail), data(detail))
    const { out } = await run(['runs', 'show', 'run_1'], asUser())
    expect(out).toContain(
      [
        'each (for_each)  completed  12 ms  2 items',
        '  each[0].send (http)  completed  12 ms',
        '  each[1].send (http)  failed  7 ms',
        '    ! refused: No.',
        `more steps: GET /runs/${detail.id}/steps?after=200`,
        '',
      ].join('\n'),
    )
    expect(JSON.parse((await run(['runs', 'show', 'run_1', '--json'], asUser())).out)).toEqual(detail)
  })

  test('tail prints each new run once, oldest first', async () => {
    answers.push(page(aRun(1)), page(aRun(3), aRun(2), aRun(1)))
    const { code, out } = await run(['runs', 'tail', '--json', '--limit=2'], asUser())
    expect(code).toBe(0)
    const ids = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids).toEqual([aRun(2).id, aRun(3).id])
    expect(server.received()[1]?.path).toContain(`from=${encodeURIComponent(at(1))}`)
  })

  test('retry passes the step, and cancel passes the reason', async () => {
    answers.push(data(aRun(1, { attempt: 2, status: 'queued' })), data(aRun(1, { status: 'cancelled' })))
    expect((await run(['runs', 'retry', 'run_1', '--from=send'], asUser())).out).toMatch(/status +queued/)
    expect((await run(['runs', 'cancel', 'run_1', '--reason=Mistake'], asUser())).code).toBe(0)
    expect(server.received().map((request) => [request.path, JSON.parse(String(request.rawBody))])).toEqual([
      ['/api/v1/runs/run_1/retry', { from: 'send' }],
      ['/api/v1/runs/run_1/cancel', { reason: 'Mistake' }],
    ])
    answers.push(refusal(new ApiError('invalid_state_transition', 'It has ended.')))
    expect(await run(['runs', 'cancel', 'run_1'], asUser())).toMatchObject({ code: 1, out: '' })
  })
})

test('a failed login stores no profile', async () => {
  answers.push(refusal(new ApiError('invalid_token', 'Unknown.')))
  const args = ['login', '--url', server.url, '--workspace', 'acme', '--api-key-stdin']
  expect(await run(args, { input: 'ops_secret\n' })).toMatchObject({ code: 1 })
  expect(() => readFileSync(join(folder, 'opsplane', 'config.json'))).toThrow('ENOENT')
})
