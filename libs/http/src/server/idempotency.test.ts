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

describe('in the transaction of the effect', () => {
  test('the same request again gets the same answer and has no further effect', async () => {
    const first = await post('/things', 'k')
    const again = await post('/things', 'k')
    expect(first).toMatchObject({ status: 201, replayed: false })
    expect(again).toMatchObject({ status: 201, replayed: true, data: first.data })
    expect(again.headers.etag).toBe('"1"')
    expect(effects).toEqual(['lamp'])
  })

  test('the order of fields does not make another request, a value does', async () => {
    await post('/things', 'k', { title: 'lamp', note: 'n' })
    expect(await post('/things', 'k', { note: 'n', title: 'lamp' })).toMatchObject({ replayed: true })
    expect(await post('/things', 'k', { title: 'lamp', note: 'm' })).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    })
  })

  test('a key belongs to one operation, caller, workspace and environment', async () => {
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

  test.each([[''], ['k'.repeat(256)], ['clé']])('the key %j is refused', async (key) => {
    expect(await post('/things', key)).toMatchObject({ status: 400, code: 'idempotency_key_invalid' })
    expect(effects).toEqual([])
  })

  test('a failed request leaves its key free', async () => {
    act = () => Promise.reject(new ApiError('conflict', 'Taken.'))
    expect(await post('/things', 'k')).toMatchObject({ status: 409, code: 'conflict' })
    expect(await post('/things', 'k', { wrong: 1 })).toMatchObject({ status: 422, code: 'validation_failed' })
    act = async (title, meta) => store.commit(meta, thing(title))
    expect(await post('/things', 'k')).toMatchObject({ status: 201, replayed: false })
  })

  test('of 50 at once one takes effect; the others are asked to wait or get its answer', async () => {
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

  test('while one is being worked on, the same is 409 and another one is 422', async () => {
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
  ])('another process commits first: %s', async (_what, error) => {
    act = async (title, meta) => {
      store.commit(meta, { ...thing(title), id: 'winner' })
      throw error
    }
    expect(await post('/things', 'k')).toMatchObject({ status: 201, replayed: true, data: { id: 'winner' } })
  })

  test('a race whose winner cannot be found yet is still in progress', async () => {
    act = () => Promise.reject(new IdempotencyRaceError())
    expect(await post('/things', 'k')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
  })

  test('secrets are answered once and not kept', async () => {
    expect(await post('/tokens', 'k')).toMatchObject({ data: { secret: 'ops_plain' } })
    expect(JSON.stringify([...store.rows.values()])).not.toContain('ops_plain')
    const again = await post('/tokens', 'k')
    expect(again).toMatchObject({ status: 201, replayed: true, data: { title: 'lamp' } })
    expect(again.data).not.toHaveProperty('secret')
  })

  test('a repetition is answered what was sent, also where the transaction gave something else', async () => {
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

  test('the status and the headers are those of the whole answer, and not of what is kept of it', async () => {
    const first = await post('/was-there', 'k')
    expect(first).toMatchObject({ status: 200, data: { secret: 'ops_plain' } })
    const again = await post('/was-there', 'k')
    expect(again).toMatchObject({ status: 200, replayed: true })
    expect(again.headers.etag).toBe(first.headers.etag)
    expect(JSON.stringify([...store.rows.values()])).not.toContain('ops_plain')
  })

  test('an answer that differs from the one kept for replay is a bug', async () => {
    expect(await post('/forgetful', 'k')).toMatchObject({ status: 500 })
    expect(app.logged()).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ message: expect.stringContaining('kept for replay') }),
      }),
    )
  })

  test('a route that takes keys and keeps no answer is a bug', async () => {
    act = async (title) => thing(title)
    expect(await post('/things', 'k')).toMatchObject({ status: 500 })
    expect(app.logged()).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ message: expect.stringContaining('no answer was kept') }),
      }),
    )
  })

  test('a route that takes no keys ignores them', async () => {
    await post('/run', 'k')
    expect(await post('/run', 'k')).toMatchObject({ status: 201, replayed: false })
    expect(effects).toHaveLength(2)
    expect(store.rows.size).toBe(0)
  })
})

describe('claimed first', () => {
  beforeEach(() => {
    act = async (title) => thing(title)
  })

  test('the same request again gets the same answer', async () => {
    const first = await post('/send', 'k')
    expect(await post('/send', 'k')).toMatchObject({ status: 201, replayed: true, data: first.data })
    expect(effects).toEqual(['lamp'])
  })

  test('a key claimed by another process is in progress', async () => {
    act = async () => {
      throw new Error('must not run')
    }
    store.claim = async (key, fingerprint) => {
      store.rows.set(key, { fingerprint, response: null })
      return undefined
    }
    expect(await post('/send', 'k')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
  })

  test('unless the handler finds what it has done: then it is performed again, for the same request alone', async () => {
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

  test('the key is held for as long as the handler runs', async () => {
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

  test('a failure gives the key back', async () => {
    act = () => Promise.reject(new ApiError('upstream_timeout', 'Too slow.'))
    expect(await post('/send', 'k')).toMatchObject({ status: 504 })
    act = async (title) => thing(title)
    expect(await post('/send', 'k')).toMatchObject({ status: 201, replayed: false })
  })

  test('the effect stands when its key cannot be completed', async () => {
    store.complete = () => Promise.reject(new Error('connection lost'))
    expect(await post('/send', 'k')).toMatchObject({ status: 201 })
    expect(await post('/send', 'k')).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
    expect(effects).toEqual(['lamp'])
  })
})
