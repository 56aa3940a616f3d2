import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { issuerFor, startTestApp, type TestApp, user } from './test-app.fixture.js'
import { routes, Thing } from './things.fixture.js'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp(routes)
})
afterAll(() => app.close())

const problem = (answer: { json: unknown }) => {
  const { error } = answer.json as {
    error: { code: string; details: { in: string; path: string; code: string }[] }
  }
  return [error.code, ...error.details.map((detail) => `${detail.in} ${detail.path} ${detail.code}`)]
}

describe('responses', () => {
  test('a resource has an envelope and an ETag', async () => {
    const answer = await app.call('GET', '/things/7')
    expect(answer.status).toBe(200)
    expect(answer.headers.etag).toBe('"3"')
    expect(answer.json).toEqual({
      data: { id: '7', title: 'lamp', version: 3 },
      meta: { requestId: answer.headers['x-request-id'] },
    })
  })

  test('a literal path takes precedence over a parameter declared before it', async () => {
    expect((await app.call('GET', '/things/newest')).json).toMatchObject({ data: { id: 'newest' } })
  })

  test('a body is parsed with its defaults', async () => {
    const answer = await app.call('POST', '/things', { body: { title: 'lamp' } })
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({ data: { title: 'lamp x1' } })
  })

  test('a missing body counts as an empty object if no field is required', async () => {
    expect((await app.call('POST', '/things/1/close')).status).toBe(200)
  })

  test('an action without a body rejects a field', async () => {
    for (const body of [undefined, {}])
      expect((await app.call('POST', '/things/1/open', { body })).status).toBe(200)
    const answer = await app.call('POST', '/things/1/open', { body: { reason: 'Dark.' } })
    expect(answer.json).toMatchObject({
      error: { code: 'validation_failed', details: [{ path: '/reason', code: 'unrecognized_key' }] },
    })
  })

  test('204 has no body', async () => {
    const answer = await app.call('DELETE', '/things/1')
    expect([answer.status, answer.text]).toEqual([204, ''])
  })

  test('HEAD returns the status and headers of GET, without the body', async () => {
    const answer = await app.call('HEAD', '/things/7')
    expect([answer.status, answer.headers.etag, answer.text]).toEqual([200, '"3"', ''])
  })

  test('every response has the security headers and does not reveal Express', async () => {
    for (const path of ['/things/7', '/nowhere', '/healthz', '/things/%zz']) {
      const { headers } = await app.call('GET', path)
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      expect(headers).toHaveProperty('x-request-id')
      expect(headers).not.toHaveProperty('x-powered-by')
    }
  })

  test('a valid X-Request-ID is kept, an invalid one is replaced', async () => {
    const kept = await app.call('GET', '/caller', { headers: { 'x-request-id': 'trace-0001' } })
    expect(kept.json).toMatchObject({ data: { requestId: 'trace-0001' }, meta: { requestId: 'trace-0001' } })
    for (const bad of ['short', 'with space in it', 'x'.repeat(129)]) {
      const replaced = await app.call('GET', '/caller', { headers: { 'x-request-id': bad } })
      expect(replaced.headers['x-request-id']).toMatch(/^req_[0-9A-Z]{26}$/)
    }
  })

  test('the handler receives the tenant, the actor and the client address', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7, 10.0.0.1', 'user-agent': 'curl/8' }
    expect((await app.call('GET', '/caller', { headers })).json).toMatchObject({
      data: {
        tenant: { workspaceId: 'ws_1', environment: 'production' },
        actor: user.actor,
        source: { address: '203.0.113.7', userAgent: 'curl/8' },
      },
    })
  })

  test('the User-Agent is truncated and stripped of control characters', async () => {
    const agent = `\tagent\u0085${'x'.repeat(300)}`
    const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': agent }
    expect((await app.call('GET', '/caller', { headers })).json).toMatchObject({
      data: { source: { userAgent: `agent${'x'.repeat(251)}` } },
    })
  })

  test('the source of a request is accepted only from the gateway', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'curl/8' }
    expect((await app.call('GET', '/caller')).json).toMatchObject({ data: { source: null } })
    const source = { address: '203.0.113.7', userAgent: 'curl/8' }
    expect((await app.call('GET', '/caller', { headers })).json).toMatchObject({ data: { source } })
    const token = await issuerFor('itsm').serviceToken('sut')
    const answer = await app.call('GET', '/internal/source', { headers, token })
    expect(answer.json).toMatchObject({ data: { source: null } })
  })
})

describe('lists', () => {
  test('return at most 50 items in the first declared sort order by default', async () => {
    const answer = await app.call('GET', '/things')
    expect(answer.json).toMatchObject({
      data: [{ id: 'createdAt desc undefined' }],
      pagination: { nextCursor: null, hasMore: false, limit: 50 },
    })
  })

  test('parse limit, after, sort and filters', async () => {
    const answer = await app.call('GET', '/things?limit=1&after=abc&sort=title&status=open')
    expect(answer.json).toMatchObject({
      data: [{ id: 'title asc abc' }],
      pagination: { nextCursor: 'next', hasMore: true, limit: 1 },
    })
  })

  test('bind a cursor to sort and filters only', async () => {
    const binding = async (query: string) =>
      z.object({ data: z.array(Thing) }).parse((await app.call('GET', `/things?${query}`)).json).data[0]
        ?.title
    const reference = await binding('status=open&q=a%20b&limit=1')
    expect(await binding('q=a+b&status=open&limit=2&after=xyz')).toBe(reference)
    expect(await binding('q=a+b&status=closed')).not.toBe(reference)
    expect(await binding('q=a+b&status=open&sort=createdAt')).not.toBe(reference)
  })

  test('report all malformed and unknown parameters', async () => {
    const answer = await app.call('GET', '/things?limit=201&sort=color&status=lost&page=2&__proto__=1')
    expect(answer.status).toBe(422)
    expect(problem(answer).sort()).toEqual([
      'query /__proto__ unrecognized_key',
      'query /limit too_big',
      'query /page unrecognized_key',
      'query /sort invalid_value',
      'query /status/0 invalid_value',
      'validation_failed',
    ])
  })
})

describe('rejected requests', () => {
  test('report all problems of a body together, as JSON pointers', async () => {
    const body = { title: 'x', count: 1.5, 'a/b': [{ n: 1 }, {}], extra: true }
    const answer = await app.call('POST', '/things?dry=1', { body })
    expect(answer.status).toBe(422)
    expect(problem(answer)).toEqual([
      'validation_failed',
      'query /dry unrecognized_key',
      'body /title too_small',
      'body /count invalid_type',
      'body /a~1b/1/n required',
      'body /extra unrecognized_key',
    ])
  })

  test.each([
    ['a missing body', undefined, ['validation_failed', 'body /title required']],
    ['null', 'null', ['validation_failed', 'body  invalid_type']],
    ['broken JSON', '{"title":', ['malformed_json']],
    ['bytes that are not UTF-8', Buffer.from('7b227469746c65223a22ff227d', 'hex'), ['malformed_json']],
    [
      'a number without end',
      '{"title":"ab","free":[1,-1e400]}',
      ['validation_failed', 'body /free/1 too_big'],
    ],
    [
      'one written out',
      `{"title":"ab","free":${'9'.repeat(250)}e99}`,
      ['validation_failed', 'body /free too_big'],
    ],
    [
      'a number too near to zero',
      '{"title":"ab","free":[0e-999,-1e-400]}',
      ['validation_failed', 'body /free/1 too_small'],
    ],
    [
      'more digits than a number has',
      '{"title":"ab","count":9007199254740993}',
      ['validation_failed', 'body /count invalid_type'],
    ],
    [
      'a __proto__ key',
      '{"title":"ab","free":{"__proto__":{"a":1}}}',
      ['validation_failed', 'body /free/__proto__ forbidden_key'],
    ],
    [
      'an escaped __proto__ key',
      '{"title":"ab","free":{"\\u005f_proto__":1}}',
      ['validation_failed', 'body /free/__proto__ forbidden_key'],
    ],
    ['a NUL character', '{"title":"ab\\u0000"}', ['validation_failed', 'body /title invalid_text']],
    ['a lone surrogate', '{"title":"ab\\ud800"}', ['validation_failed', 'body /title invalid_text']],
    [
      'too deep a value',
      `{"title":"ab","free":${'['.repeat(120)}${']'.repeat(120)}}`,
      ['validation_failed', `body /free${'/0'.repeat(99)} too_deep`],
    ],
    ['too large a body', `{"title":"${'a'.repeat(1000)}"}`, ['payload_too_large']],
  ])('include %s', async (_what, rawBody, expected) => {
    const answer = await app.call('POST', '/things', rawBody === undefined ? {} : { rawBody })
    expect(problem(answer)).toEqual(expected)
    expect(answer.json).toMatchObject({ error: { status: answer.status } })
  })

  test('include an oversized body of unknown length, which is aborted while it arrives', async () => {
    const headers = { 'transfer-encoding': 'chunked' }
    const answer = await app.call('POST', '/things', { rawBody: `"${'a'.repeat(200_000)}"`, headers })
    expect([answer.status, ...problem(answer)]).toEqual([413, 'payload_too_large'])
  })

  test.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-encoding': 'gzip' }],
  ])('include the media type of %j', async (headers) => {
    const answer = await app.call('POST', '/things', { body: { title: 'ab' }, headers })
    expect([answer.status, ...problem(answer)]).toEqual([415, 'unsupported_media_type'])
  })

  test('do not include other media types of JSON', async () => {
    for (const type of ['application/json; charset=UTF-8', 'application/merge-patch+json']) {
      const answer = await app.call('POST', '/things', {
        body: { title: 'ab' },
        headers: { 'content-type': type },
      })
      expect(answer.status).toBe(201)
    }
  })

  test.each(['/things/%zz', '/things?q=%zz', '/things/a%00b', '/things?q=%c3%28'])(
    'include the URL %s',
    async (path) => {
      const answer = await app.call('GET', path)
      expect([answer.status, ...problem(answer)]).toEqual([400, 'malformed_url'])
    },
  )

  test('include an unknown path and a wrong method', async () => {
    const unknown = await app.call('GET', '/nothing')
    expect(problem(unknown)).toEqual(['route_not_found'])
    expect(unknown.json).toMatchObject({ error: { message: 'There is no operation GET /nothing.' } })
    const answer = await app.call('PUT', '/things/1')
    expect([answer.status, answer.headers.allow, ...problem(answer)]).toEqual([
      405,
      'DELETE, GET, HEAD',
      'method_not_allowed',
    ])
    expect((await app.call('OPTIONS', '/things')).status).toBe(405)
  })

  test('report an ApiError unchanged, with Retry-After for 503', async () => {
    expect((await app.call('GET', '/fail/absent')).status).toBe(404)
    const answer = await app.call('GET', '/fail/down')
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
  })

  test('reveal nothing about an unexpected error, which is logged with the request id', async () => {
    const answer = await app.call('GET', '/fail/bug')
    expect([answer.status, ...problem(answer)]).toEqual([500, 'internal_error'])
    expect(answer.text).not.toContain('hunter2')
    const lines = app.logged().filter((line) => line.requestId === answer.headers['x-request-id'])
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 50,
        err: expect.objectContaining({ message: 'the password is hunter2' }),
      }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 30,
        msg: 'request',
        status: 500,
        route: '/fail/:how',
        workspaceId: 'ws_1',
      }),
    )
  })
})

describe('If-Match', () => {
  test.each([
    ['"3"', '3'],
    ['*', 'undefined'],
    ['W/"3"', '-1'],
    ['"abc"', '-1'],
  ])('%s requires version %s', async (header, version) => {
    const answer = await app.call('POST', '/things/1/close', { headers: { 'if-match': header } })
    expect(answer.json).toMatchObject({ data: { title: version } })
  })

  test('is rejected if it is malformed', async () => {
    const answer = await app.call('POST', '/things/1/close', { headers: { 'if-match': '3' } })
    expect(problem(answer)).toEqual(['validation_failed', 'header /if-match invalid_format'])
  })
})

describe('routes', () => {
  const [first] = routes
  const copy = (changes: object) => (first ? [first, { ...first, ...changes }] : [])

  test.each([
    ['one operation id twice', copy({ path: '/other' })],
    ['one address twice', copy({ operationId: 'other', path: '/things/:name' })],
    ['an internal route for users', copy({ operationId: 'other', path: '/internal/x' })],
    [
      'an internal route without callers',
      copy({ operationId: 'other', path: '/internal/x', scope: 'service' }),
    ],
    ['callers of a route for users', copy({ operationId: 'other', path: '/x', callers: ['itsm'] })],
    ['a service scope outside /internal', copy({ operationId: 'other', path: '/x', scope: 'service' })],
  ])('are rejected at startup: %s', async (_what, wrong) => {
    await expect(startTestApp(wrong)).rejects.toThrow()
  })
})
