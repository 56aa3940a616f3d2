import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError, IdempotencyRaceError, invalidTransition } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { z } from 'zod'
import { defineRoute, type RequestMeta, type Route } from '../index.js'
import { Idempotency } from './idempotency.js'
import {
  createDeferred,
  gatewayToken,
  MemoryIdempotencyStore,
  startTestApp,
  type TestApp,
  user,
} from './test-app.fixture.js'

const Thing = z.object({ id: z.string(), title: z.string(), version: z.int() })
const Shown = Thing.extend({ secret: z.string().optional() })
type Thing = z.infer<typeof Thing>
const Body = z.object({ title: z.string(), note: z.string().optional() })

let store: MemoryIdempotencyStore
let app: TestApp
let effects: string[]
let routes: Route[]
/** The handler's next action; each test may replace it. */
let act: (title: string, meta: RequestMeta) => Promise<Thing>

const thing = (title: string): Thing => {
  effects.push(title)
  return { id: `thing_${effects.length}`, title, version: 1 }
}

const contract = {
  method: 'post',
  summary: 'x',
  tag: 't',
  scope: 'itsm:write',
  body: Body,
  response: Thing,
  status: 201,
} as const

beforeEach(async () => {
  store = new MemoryIdempotencyStore()
  effects = []
  act = async (title, meta) => store.commit(meta, thing(title))
  routes = [
    defineRoute({
      ...contract,
      operationId: 'create',
      path: '/things',
      handler: ({ body, meta }) => act(body.title, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'createOther',
      path: '/others',
      handler: ({ body, meta }) => act(body.title, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'send',
      path: '/send',
      idempotency: 'claim',
      handler: ({ body, meta }) => act(body.title, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'sendAgain',
      path: '/repeat',
      idempotency: 'repeat',
      handler: ({ body, meta }) => act(body.title, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'run',
      path: '/run',
      idempotency: 'none',
      handler: ({ body, meta }) => act(body.title, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'createToken',
      path: '/tokens',
      stepUp: true,
      response: Shown,
      redactReplay: ({ secret: _, ...rest }) => rest,
      handler: async ({ body, meta }) => ({ ...store.commit(meta, thing(body.title)), secret: 'ops_plain' }),
    }),
    defineRoute({
      ...contract,
      operationId: 'forgetful',
      path: '/forgetful',
      handler: async ({ body, meta }) => ({
        ...store.commit(meta, thing(body.title)),
        title: 'something else',
      }),
      wasThere: ({ title }) => title === 'something else',
    }),
    defineRoute({
      ...contract,
      operationId: 'findToken',
      path: '/was-there',
      stepUp: true,
      response: Shown,
      wasThere: ({ secret }) => secret !== undefined,
      redactReplay: ({ id, title }) => ({ id, title, version: 0 }),
      handler: async ({ body, meta }) => store.commit(meta, { ...thing(body.title), secret: 'ops_plain' }),
    }),
  ]
  app = await startTestApp(routes, { idempotency: store })
})
afterEach(() => app.close())

const post = async (path: string, key: string, body: unknown = { title: 'lamp' }, token?: string) => {
  const headers = { 'idempotency-key': key }
  const answer = await app.call('POST', path, { body, headers, ...(token && { token }) })
  const json = z
    .object({ data: Shown.optional(), error: z.object({ code: z.string() }).optional() })
    .parse(answer.json)
  const replayed = answer.headers['idempotency-replayed'] === 'true'
  return { status: answer.status, code: json.error?.code, data: json.data, replayed, headers: answer.headers }
}

describe('an idempotency key stored in the transaction of the effect', () => {
  test('returns the same response for the same request, without a second effect', async () => {
    const first = await post('/things', 'k')
    const again = await post('/things', 'k')
    expect(first).toMatchObject({ status: 201, replayed: false })
    expect(again).toMatchObject({ status: 201, replayed: true, data: first.data })
    expect(again.headers.etag).toBe('"1"')
    expect(effects).toEqual(['lamp'])
  })

  test('accepts another order of fields as the same request, but not another value', async () => {
    await post('/things', 'k', { title: 'lamp', note: 'n' })
    expect(await post('/things', 'k', { note: 'n', title: 'lamp' })).toMatchObject({ replayed: true })
    expect(await post('/things', 'k', { title: 'lamp', note: 'm' })).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    })
  })

  test('belongs to one operation, caller, workspace and environment', async () => {
    await post('/things', 'k')
    const others = [
      { ...user, workspaceId: 'ws_2' },
      { ...user, environment: 'staging' as const },
      { ...user, actor: { ...user.actor, id: 'usr_2' } },
    ]
    for (const other of others) {
      expect(await post('/things', 'k', undefined, await gatewayToken(other))).toMatchObject({
        status: 201,
        replayed: false,
      })
    }
    expect(await post('/others', 'k')).toMatchObject({ status: 201, replayed: false })
    expect(effects).toHaveLength(5)
  })

  test.each([[''], ['k'.repeat(256)], ['clé']])('is rejected if it is %j', async (key) => {
    expect(await post('/things', key)).toMatchObject({ status: 400, code: 'idempotency_key_invalid' })
    expect(effects).toEqual([])
  })

  test('stays free after a failed request', async () => {
    act = () => Promise.reject(new ApiError('conflict', 'Taken.'))
    expect(await post('/things', 'k')).toMatchObject({ status: 409, code: 'conflict' })
    expect(await post('/things', 'k', { wrong: 1 })).toMatchObject({ status: 422, code: 'validation_failed' })
    act = async (title, meta) => store.commit(meta, thing(title))
    expect(await post('/things', 'k')).toMatchObject({ status: 201, replayed: false })
  })

  test('lets one of 50 concurrent requests take effect; the others receive 409 or its response', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('/things', 'k')))
    expect(effects).toEqual(['lamp'])
    expect(answers.filter(({ status, replayed }) => status === 201 && !replayed)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject({
        status: 409,
        code: 'idempotency_in_progress',
        headers: { 'retry-after': '1' },
      })
    }
    expect(await post('/things', 'k')).toMatchObject({ status: 201, replayed: true })
  })

  test('in progress answers the same request with 409 and another request with 422', async () => {
    const [started, finish] = [createDeferred(), createDeferred()]
    act = async (title, meta) => {
      started.resolve()
      await finish.promise
      return store.commit(meta, thing(title))
    }
    const first = post('/things', 'k')
    await started.promise
    expect(await post('/things', 'k')).toMatchObject({ code: 'idempotency_in_progress' })
    expect(await post('/things', 'k', { title: 'desk' })).toMatchObject({ code: 'idempotency_key_reused' })
    finish.resolve()
    expect(await first).toMatchObject({ status: 201 })
  })

  test.each([
    ['the race is reported by the store', new IdempotencyRaceError()],
    ['the effect of the winner makes this one impossible', invalidTransition('close', 'closed', [])],
  ])('returns the response of another process that commits first: %s', async (_what, error) => {
    act = async (title, meta) => {
      store.commit(meta, { ...thing(title), id: 'winner' })
      throw error
    }
    expect(await post('/things', 'k')).toMatchObject({ status: 201, replayed: true, data: { id: 'winner' } })
  })

  test('is in progress while the winner of a race cannot be found yet', async () => {
    act = () => Promise.reject(new IdempotencyRaceError())
    expect(await post('/things', 'k')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
  })

  test('does not store secrets, which are returned only once', async () => {
    expect(await post('/tokens', 'k')).toMatchObject({ data: { secret: 'ops_plain' } })
    expect(JSON.stringify([...store.rows.values()])).not.toContain('ops_plain')
    const again = await post('/tokens', 'k')
    expect(again).toMatchObject({ status: 201, replayed: true, data: { title: 'lamp' } })
    expect(again.data).not.toHaveProperty('secret')
  })

  test('replays the response that was sent, even if the transaction stored another one', async () => {
    await app.close()
    app = await startTestApp(routes, { idempotency: store, checkResponses: false })
    const first = await post('/forgetful', 'k')
    expect(first).toMatchObject({ status: 200, replayed: false, data: { title: 'something else' } })
    expect(await post('/forgetful', 'k')).toMatchObject({ status: 200, replayed: true, data: first.data })
    act = async (title) => thing(title)
    const unkept = await post('/things', 'unkept')
    expect(await post('/things', 'unkept')).toMatchObject({ replayed: true, data: unkept.data })
    expect(effects).toHaveLength(2)
  })

  test('replays the status and headers of the full response, not of its redacted copy', async () => {
    const first = await post('/was-there', 'k')
    expect(first).toMatchObject({ status: 200, data: { secret: 'ops_plain' } })
    const again = await post('/was-there', 'k')
    expect(again).toMatchObject({ status: 200, replayed: true })
    expect(again.headers.etag).toBe(first.headers.etag)
    expect(JSON.stringify([...store.rows.values()])).not.toContain('ops_plain')
  })

  test('causes an internal error if the response differs from the one stored for replay', async () => {
    expect(await post('/forgetful', 'k')).toMatchObject({ status: 500 })
    expect(app.logged()).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ message: expect.stringContaining('kept for replay') }),
      }),
    )
  })

  test('causes an internal error if the handler stores no response', async () => {
    act = async (title) => thing(title)
    expect(await post('/things', 'k')).toMatchObject({ status: 500 })
    expect(app.logged()).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ message: expect.stringContaining('no answer was kept') }),
      }),
    )
  })

  test('is ignored by a route without idempotency', async () => {
    await post('/run', 'k')
    expect(await post('/run', 'k')).toMatchObject({ status: 201, replayed: false })
    expect(effects).toHaveLength(2)
    expect(store.rows.size).toBe(0)
  })
})

describe('an idempotency key claimed before the effect', () => {
  beforeEach(() => {
    act = async (title) => thing(title)
  })

  test('returns the same response for the same request', async () => {
    const first = await post('/send', 'k')
    expect(await post('/send', 'k')).toMatchObject({ status: 201, replayed: true, data: first.data })
    expect(effects).toEqual(['lamp'])
  })

  test('is in progress if another process has claimed it', async () => {
    act = async () => {
      throw new Error('must not run')
    }
    store.claim = async (key, fingerprint) => {
      store.rows.set(key, { fingerprint, response: null })
      return undefined
    }
    expect(await post('/send', 'k')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
  })

  test('without a stored response repeats a repeatable operation, but only for the same request', async () => {
    const loseAnswer = () => {
      for (const row of store.rows.values()) row.response = null
    }
    await post('/repeat', 'k')
    loseAnswer()
    expect(await post('/repeat', 'k')).toMatchObject({ status: 201, replayed: false })
    expect(await post('/repeat', 'k')).toMatchObject({ status: 201, replayed: true })
    expect(effects).toEqual(['lamp', 'lamp'])
    loseAnswer()
    expect(await post('/repeat', 'k', { title: 'chair' })).toMatchObject({ code: 'idempotency_key_reused' })
  })

  test('is renewed while the handler runs', async () => {
    const held = createDeferred()
    let holds = 0
    store.renew = async () => {
      if (++holds === 3) held.resolve()
    }
    const idempotency = new Idempotency(store, createLogger({ service: 'test', level: 'silent' }), 1)
    const attempt = { mode: 'claim', key: 'k', fingerprint: 'f', meta: {} as RequestMeta } as const
    const stored = () => ({ status: 200, body: {} })
    await idempotency.run({ ...attempt, perform: () => held.promise, answer: stored, respond: stored })
    expect(store.rows.get('k')?.response).toEqual(stored())
  })

  test('is released after a failure', async () => {
    act = () => Promise.reject(new ApiError('upstream_timeout', 'Too slow.'))
    expect(await post('/send', 'k')).toMatchObject({ status: 504 })
    act = async (title) => thing(title)
    expect(await post('/send', 'k')).toMatchObject({ status: 201, replayed: false })
  })

  test('that cannot be completed does not revert the effect', async () => {
    store.complete = () => Promise.reject(new Error('connection lost'))
    expect(await post('/send', 'k')).toMatchObject({ status: 201 })
    expect(await post('/send', 'k')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
    expect(effects).toEqual(['lamp'])
  })
})
