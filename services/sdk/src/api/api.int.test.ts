import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Execution, newId } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'

let world: SdkFixture
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const answering = (expression: string) => `export default async function (request) { return ${expression} }`

beforeAll(async () => {
  world = await startSdk()
  const api = { methods, headers: ['x-signature'] }
  const install = (slug: string, code: string, more: object = {}) =>
    world.install({ slug, kind: 'api', code, api, ...more })
  await install('mirror', answering('{ body: request }'))
  await install('answers', answering('request.body'))
  await install('reads', answering('({ body: "read" })'), { api: { methods: ['GET'], headers: [] } })
  await install('counts', answering('({ status: 201, body: { n: Math.random() } })'))
  await install('throws', 'export default async function () { throw new Error("no luck") }')
  await install('hangs', 'export default function () { for (;;); }', { limits: { wallMs: 50 } })
  await install('typed', answering('({ body: request.body.n + 1 })'), {
    inputSchema: {
      type: 'object',
      properties: {
        body: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
        query: { type: 'object', properties: { page: { pattern: '^[0-9]+$' } } },
        headers: { type: 'object', required: ['x-signature'] },
      },
    },
  })
  await world.install({ slug: 'action', code: answering('({})') })
})
afterAll(() => world?.stop())

interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** Sends a request as a client does and returns the response of a plain `fetch`. */
async function ask(
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
  principal = world.principal,
) {
  const answer = await fetch(`${world.service.url}/sdk/artifacts/${path}`, {
    method,
    headers: { ...(await world.service.headers(principal)), ...headers },
    ...(body !== undefined && { body }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) }
}
const json = { 'content-type': 'application/json' }
const answered = (answer: object) =>
  ask('answers/api', { method: 'POST', headers: json, body: JSON.stringify(answer) })
const executionOf = async (answer: { headers: Headers }) => {
  const id = answer.headers.get('x-execution-id') ?? ''
  return (await world.api.get(`/origin/api/service-sdk/executions/${id}`)).data(Execution)
}

describe('a request to the path of an API artifact', () => {
  it.each(methods)('with method %s arrives with path, query, headers and body', async (method) => {
    const answer = await ask('mirror/api/orders/a%2Fb?tag=x&tag=y&since=1', {
      method,
      headers: { ...json, 'x-signature': 's', 'x-other': 'o', cookie: 'a=b', accept: 'text/html' },
      ...(method !== 'GET' && { body: '{"a":[1]}' }),
    })
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({
      ...{ method, path: '/orders/a/b', segments: ['orders', 'a/b'], query: { tag: ['x', 'y'], since: '1' } },
      body: method === 'GET' ? null : { a: [1] },
    })
    const shown = ['accept', 'accept-language', 'content-type', 'user-agent', 'x-signature']
    expect(Object.keys(answer.json().headers).toSorted()).toEqual(shown)
    expect(answer.json().headers).toMatchObject({ accept: 'text/html', 'x-signature': 's' })
    expect(await executionOf(answer)).toMatchObject({
      ...{ artifact_slug: 'mirror', status: 'completed', trigger_type: 'manual' },
      input: { method, path: '/orders/a/b' },
    })
  })

  it('is logged as an execution of type api', async () => {
    const { id } = await executionOf(await ask('mirror/api'))
    const found = await world.api.get('/origin/api/service-sdk/executions?executionType=api&artifactType=api')
    expect(found.page(Execution).items.map((each) => each.id)).toContain(id)
  })

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'a=1&b=2&b=3', { a: '1', b: ['2', '3'] }],
    ['a text', 'text/csv; charset=utf-8', 'a;b', 'a;b'],
    ['nothing', 'application/json', '', null],
  ])('can have %s as its body', async (_what, type, body, shown) => {
    const answer = await ask('mirror/api', { method: 'POST', headers: { 'content-type': type }, body })
    expect(answer.json().body).toEqual(shown)
  })

  it('with method HEAD is answered like GET, without the body', async () => {
    const answer = await ask('reads/api', { method: 'HEAD' })
    expect([answer.status, answer.text, answer.headers.get('content-length')]).toEqual([200, '', '4'])
  })

  it.each([
    ['what is no media type it reads', 415, 'unsupported_media_type', 'image/png', 'x'],
    ['what is no JSON', 400, 'malformed_json', 'application/json', '{'],
    ['too much', 413, 'payload_too_large', 'text/plain', 'x'.repeat(1024 * 1024 + 1)],
  ])('with %s starts no execution', async (_what, status, code, type, body) => {
    const answer = await ask('mirror/api', { method: 'POST', headers: { 'content-type': type }, body })
    expect([answer.status, answer.json().error.code]).toEqual([status, code])
    expect(answer.headers.get('x-execution-id')).toBeNull()
  })

  it('that violates the input schema is rejected with each error and its place in the request', async () => {
    const answer = await ask('typed/api?page=x', { method: 'POST', headers: json, body: '{"n":"one"}' })
    expect(answer.status).toBe(422)
    expect(answer.json().error.details).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ in: 'body', path: '/n' }),
        expect.objectContaining({ in: 'query', path: '/page' }),
        expect.objectContaining({ in: 'header' }),
      ]),
    )
    const fits = { ...json, 'x-signature': 's' }
    expect((await ask('typed/api', { method: 'POST', headers: fits, body: '{"n":1}' })).text).toBe('2')
  })

  it('is rejected if the artifact lacks the method, is of another kind or does not exist', async () => {
    const refused = await ask('reads/api', { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    for (const path of ['action/api', 'unknown/api'])
      expect((await ask(path)).json().error.code).toBe('not_found')
  })

  it('requires the permission to invoke', async () => {
    const reader = { ...world.principal, permissions: ['sdk:read'] }
    expect((await ask('mirror/api', {}, reader)).json().error.code).toBe('insufficient_scope')
    const stranger = testPrincipal({ workspaceId: newId('workspace') })
    expect((await ask('mirror/api', {}, stranger)).status).toBe(404)
  })

  it('with an Idempotency-Key runs once, and is answered the same for the same request', async () => {
    const headers = { ...json, 'idempotency-key': newId('request') }
    const [first, again] = [
      await ask('counts/api/x', { method: 'POST', headers, body: '1' }),
      await ask('counts/api/x', { method: 'POST', headers, body: '1' }),
    ]
    expect(again.text).toBe(first.text)
    const replayed = [first, again].map((answer) => answer.headers.get('idempotency-replayed'))
    expect(replayed).toEqual([null, 'true'])
    expect(again.headers.get('x-execution-id')).toBe(first.headers.get('x-execution-id'))
    const other = await ask('counts/api/x', { method: 'POST', headers, body: '2' })
    expect([other.status, other.json().error.code]).toEqual([422, 'idempotency_key_reused'])
  })
})

describe('the response', () => {
  it('has status, headers and body of the artifact, and the standard security headers', async () => {
    const answer = await answered({
      ...{ status: 203, body: '<script>alert(1)</script>' },
      headers: { 'Content-Type': 'text/html', 'X-Artifact-Page': '2', location: '/sdk/artifacts/x' },
    })
    expect([answer.status, answer.text]).toEqual([203, '<script>alert(1)</script>'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'content-type': 'text/html', 'x-artifact-page': '2', location: '/sdk/artifacts/x' },
      ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    })
  })

  it.each([
    ['a value', { body: { a: 1 } }, 'application/json; charset=utf-8', '{"a":1}'],
    ['a text', { body: 'ä' }, 'text/plain; charset=utf-8', 'ä'],
    ['nothing', {}, null, ''],
    ['nothing of 204', { status: 204, body: 'x' }, null, ''],
  ])('can be %s', async (_what, given, type, text) => {
    const answer = await answered(given)
    expect([answer.headers.get('content-type'), answer.text]).toEqual([type, text])
  })

  it.each([
    ['a cookie', { headers: { 'set-cookie': 'a=b' } }],
    ['a policy of its own', { headers: { 'Content-Security-Policy': 'none' } }],
    ['another origin', { status: 302, headers: { location: '//evil.example' } }],
    ['a second line', { headers: { 'x-artifact-a': 'a\r\nset-cookie: b' } }],
    ['a status below 200', { status: 101 }],
    ['what is no answer', { boby: 1 }],
  ])('with %s is replaced by 502, and the execution fails', async (_what, given) => {
    const answer = await answered(given)
    expect([answer.status, answer.json().error.code]).toEqual([502, 'upstream_error'])
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(await executionOf(answer)).toMatchObject({ status: 'failed', error: { code: 'invalid_output' } })
  })

  it.each([
    ['throws', 502, 'upstream_error', 'failed'],
    ['hangs', 504, 'upstream_timeout', 'timeout'],
  ])('of an artifact that %s is an error with the id of the execution', async (slug, status, code, ended) => {
    const answer = await ask(`${slug}/api`)
    expect([answer.status, answer.json().error.code]).toEqual([status, code])
    const execution = await executionOf(answer)
    expect(execution.status).toBe(ended)
    expect(answer.json().error.details[0].params).toEqual({ executionId: execution.id })
  })
})
