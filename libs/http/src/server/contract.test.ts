import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { createLogger, systemClock } from '@opsplane/runtime'
import { z } from 'zod'
import { createApp, createInternalVerifier, defineList, defineRoute } from '../index.js'
import { openApiDocument } from '../openapi/openapi.js'
import type { RouteContract } from '../route/route.js'
import { MemoryIdempotencyStore, startTestApp, type TestApp, trustedKeys } from './test-app.fixture.js'

const Lamp = z.object({ id: z.string(), version: z.int() }).meta({ id: 'ContractTestLamp' })
const base = { tag: 'lamps', summary: 'A lamp', scope: 'itsm:write', response: Lamp } as const
const lamp = { id: 'l/1', version: 3 }
const store = new MemoryIdempotencyStore()
const deprecated = { since: '2026-01-01', sunset: '2026-07-01', link: 'https://docs.example.com/lamps' }

const getLamp = defineRoute({
  ...base,
  operationId: 'getLamp',
  method: 'get',
  path: '/rooms/:room/lamps/:id',
  handler: async () => lamp,
})
const createLamp = defineRoute({
  ...base,
  operationId: 'createLamp',
  method: 'post',
  path: '/rooms/:room/lamps',
  status: 201,
  wasThere: ({ id }) => id === 'lit',
  handler: async ({ params, meta }) =>
    store.commit(meta, params.room === 'lit' ? { ...lamp, id: 'lit' } : lamp),
})
const routes = [
  getLamp,
  createLamp,
  defineRoute({
    ...base,
    operationId: 'getMeter',
    method: 'get',
    path: '/meters/:id',
    changesUnversioned: true,
    handler: async () => lamp,
  }),
  defineRoute({
    ...base,
    operationId: 'hangLamp',
    method: 'post',
    path: '/hooks/:hook/rooms/:room/lamp',
    status: 201,
    createdBelow: '/rooms/:room/lamps',
    handler: async () => lamp,
  }),
  defineRoute({
    ...base,
    operationId: 'createFuse',
    method: 'post',
    path: '/fuses',
    status: 201,
    handler: async () => lamp,
  }),
  defineList({
    ...base,
    operationId: 'listLamps',
    path: '/rooms/:room/lamps',
    deprecated,
    handler: async ({ query }) => ({ items: [lamp], nextCursor: null, limit: query.limit }),
  }),
  defineRoute({
    ...base,
    operationId: 'switchLamp',
    method: 'post',
    path: '/rooms/:room/lamps/:id/switch',
    response: z.object({ on: z.boolean() }),
    deprecated: { since: '2026-01-01T12:00:00Z' },
    handler: async () => {
      throw new ApiError('conflict', 'The lamp is broken.')
    },
  }),
]

let app: TestApp
beforeAll(async () => {
  app = await startTestApp(routes, { idempotency: store })
})
afterAll(() => app.close())

const operation = async (path: string, method: 'get' | 'post') =>
  z.record(z.string(), z.unknown()).parse((await openApiDocument('lamps', routes)).paths?.[path]?.[method])

describe('a created resource', () => {
  test('has a Location that can be read, also when the response is replayed', async () => {
    const headers = { 'idempotency-key': 'k' }
    for (const replayed of [undefined, 'true']) {
      const answer = await app.call('POST', '/rooms/a%20b/lamps', { headers })
      expect(answer.headers['idempotency-replayed']).toBe(replayed)
      expect(answer.headers.location).toBe('/rooms/a%20b/lamps/l%2F1')
    }
    expect((await app.call('GET', '/rooms/a%20b/lamps/l%2F1')).status).toBe(200)
    expect(await operation('/rooms/{room}/lamps', 'post')).toMatchObject({
      responses: { 201: { headers: { Location: expect.anything() } } },
    })
  })

  test('that existed already is answered with 200 and no Location, also when the response is replayed', async () => {
    const headers = { 'idempotency-key': 'there' }
    for (const replayed of [undefined, 'true']) {
      const answer = await app.call('POST', '/rooms/lit/lamps', { headers })
      expect([answer.status, answer.headers.etag]).toEqual([200, '"3"'])
      expect(answer.headers['idempotency-replayed']).toBe(replayed)
      expect(answer.headers).not.toHaveProperty('location')
    }
    const { responses } = await operation('/rooms/{room}/lamps', 'post')
    expect(responses).toMatchObject({ 200: { headers: { ETag: expect.anything() } }, 201: expect.anything() })
    expect(responses).not.toHaveProperty('200.headers.Location')
  })

  test('that is read below another path has a Location below that path', async () => {
    const answer = await app.call('POST', '/hooks/1/rooms/a%20b/lamp')
    expect(answer.headers.location).toBe('/rooms/a%20b/lamps/l%2F1')
    expect(await operation('/hooks/{hook}/rooms/{room}/lamp', 'post')).toMatchObject({
      responses: { 201: { headers: { Location: expect.anything() } } },
    })
  })

  test('that cannot be read has no Location', async () => {
    expect((await app.call('POST', '/fuses')).headers).not.toHaveProperty('location')
  })
})

describe('If-None-Match', () => {
  const read = (path: string, tags: string, method = 'GET') =>
    app.call(method, path, { headers: { 'if-none-match': tags } })

  test.each(['"3"', 'W/"3"', '"1", "3"', '*'])(
    '%s matches the current version: 304 without a body',
    async (tags) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await read('/rooms/1/lamps/1', tags, method)
        expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, '', '"3"'])
        expect(answer.headers).toHaveProperty('x-request-id')
      }
    },
  )

  test.each(['"2"', '3', '', '"33"'])('%s does not match: 200 with the resource', async (tags) => {
    expect((await read('/rooms/1/lamps/1', tags)).status).toBe(200)
  })

  test('is ignored for resources that change without a new version, for lists and for writes', async () => {
    expect((await read('/meters/1', '"3"')).status).toBe(200)
    expect((await read('/rooms/1/lamps', '*')).status).toBe(200)
    expect((await read('/fuses', '*', 'POST')).status).toBe(201)
  })
})

describe('a deprecated operation', () => {
  test('announces its deprecation, sunset and documentation in the headers of every response', async () => {
    const listed = await app.call('GET', '/rooms/1/lamps')
    expect(listed.headers).toMatchObject({
      deprecation: '@1767225600',
      sunset: 'Wed, 01 Jul 2026 00:00:00 GMT',
      link: '<https://docs.example.com/lamps>; rel="deprecation"; type="text/html"',
    })
    const refused = await app.call('POST', '/rooms/1/lamps/1/switch')
    expect([refused.status, refused.headers.deprecation]).toEqual([409, '@1767268800'])
    expect(refused.headers).not.toHaveProperty('sunset')
    expect((await app.call('GET', '/rooms/1/lamps', { token: null })).headers).toHaveProperty('deprecation')
    expect((await app.call('GET', '/meters/1')).headers).not.toHaveProperty('deprecation')
  })

  test('is marked in the OpenAPI document', async () => {
    expect(await operation('/rooms/{room}/lamps', 'get')).toMatchObject({ deprecated: true })
    expect(await operation('/meters/{id}', 'get')).not.toHaveProperty('deprecated')
  })
})

describe('route contracts at startup', () => {
  const start = (
    contract: Partial<RouteContract<'/keys', z.ZodType, z.ZodObject, z.ZodObject, z.ZodType>>,
  ) => {
    const route = defineRoute({
      ...base,
      operationId: 'createKey',
      method: 'post',
      path: '/keys',
      scope: 'authenticated',
      handler: async () => lamp,
      ...contract,
    })
    const verifier = createInternalVerifier({ service: 'sut', trustedKeys })
    const log = createLogger({ service: 'sut', level: 'silent' })
    createApp({ service: 'sut', routes: [route], verifier, log, clock: systemClock })
  }

  test.each(['token', 'accessToken', 'webhook_secret', 'password', 'apiKey'])(
    'reject a %s in a response that is stored for replay',
    (name) => {
      const response = z.object({ made: z.object({ [name]: z.string().nullable().optional() }) })
      const stepUp = true
      expect(() => start({ response, stepUp })).toThrow(`/made/${name}`)
      expect(() => start({ response, stepUp, redactReplay: () => ({}) })).not.toThrow()
      expect(() => start({ response, stepUp, idempotency: 'none' })).not.toThrow()
    },
  )

  test('reject a secret in a response that requires no step-up', () => {
    const contract = { response: z.object({ token: z.string() }), idempotency: 'none' } as const
    expect(() => start(contract)).toThrow('stepUp')
    expect(() => start({ ...contract, method: 'get' })).not.toThrow()
    expect(() => start({ ...contract, scope: 'public' })).not.toThrow()
  })

  test('accept names that only resemble those of secrets', () => {
    const response = z.object({ has_secret: z.boolean(), tokenId: z.string(), secretName: z.string() })
    expect(() => start({ response })).not.toThrow()
  })

  test('reject a sunset before the deprecation, and malformed dates', () => {
    expect(() => start({ deprecated: { since: '2026-02-01', sunset: '2026-01-01' } })).toThrow('createKey')
    expect(() => start({ deprecated: { since: 'soon' } })).toThrow('createKey')
  })
})
