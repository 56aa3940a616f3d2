import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { type ClientOptions, createClient, OpsplaneError, parseExact, stringifyExact } from './index.js'

interface Reply {
  status: number
  body?: unknown
  headers?: Record<string, string>
}
interface Seen {
  body: string
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
}

let server: Server | undefined
afterEach(() => void server?.close())

/** A client of a server that answers with these, one after the other. */
async function clientOf(replies: (Reply | 'hang up')[], options: Partial<ClientOptions> = {}) {
  const seen: Seen[] = []
  const queue = [...replies]
  server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    seen.push({ body, method: req.method, url: req.url, headers: req.headers })
    const reply = queue.shift()
    if (reply === undefined || reply === 'hang up') return void req.socket.destroy()
    res.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    res.end(reply.body === undefined ? undefined : stringifyExact(reply.body))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}/api/v1`
  return { client: createClient({ baseUrl, ...options }), seen }
}

const meta = { requestId: 'req-12345678' }
const created: Reply = { status: 201, body: { data: { id: 'inc_1', number: 'INC-1' }, meta } }
const failure = (status: number, code: string, retryable: boolean): Reply => ({
  status,
  body: {
    error: {
      code,
      status,
      message: 'No.',
      retryable,
      details: [{ in: 'body', path: '/title', code: 'x', message: 'y' }],
    },
    meta,
  },
})
const away = failure(503, 'service_unavailable', true)

function waits() {
  const waited: number[] = []
  const wait = async (ms: number) => void waited.push(ms)
  return { waited, retry: { retries: 2, baseMs: 100, wait, random: () => 0.5 } }
}

test('every request carries the token, workspace, environment, request id and idempotency key', async () => {
  const { client, seen } = await clientOf([created], {
    token: async () => 'ops_key',
    workspace: 'acme',
    environment: 'staging',
  })
  const { data } = await client.post('/itsm/incidents', { body: { title: 'Disk full' } })
  expect(data.number).toBe('INC-1')
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/v1/itsm/incidents' })
  expect(seen[0]?.headers).toMatchObject({
    authorization: 'Bearer ops_key',
    'x-workspace': 'acme',
    'x-environment': 'staging',
    'x-request-id': expect.stringMatching(/^[\w.-]{8,128}$/),
    'idempotency-key': expect.any(String),
  })
})

test('headers set by the caller override the defaults, and GET requests carry no idempotency key', async () => {
  const page = { status: 200, body: { data: [], pagination: {}, meta } }
  const { client, seen } = await clientOf([created, page], { workspace: 'acme' })
  await client.post('/itsm/incidents', {
    params: { header: { 'Idempotency-Key': 'mine', 'X-Workspace': 'other' } },
    body: { title: 't' },
  })
  await client.get('/itsm/incidents', { params: { query: { status: ['open', 'on_hold'], limit: 5 } } })
  expect(seen[0]?.headers).toMatchObject({ 'idempotency-key': 'mine', 'x-workspace': 'other' })
  expect(seen[1]?.url).toBe('/api/v1/itsm/incidents?status=open&status=on_hold&limit=5')
  expect(seen[1]?.headers).not.toHaveProperty('idempotency-key')
})

test('fields, values and paths that the OpenAPI document does not define are compile errors', async () => {
  const { client, seen } = await clientOf([created, created, created])
  // @ts-expect-error: an incident needs a title
  await client.post('/itsm/incidents', { body: { severity: 'low' } })
  // @ts-expect-error: there is no such severity
  await client.post('/itsm/incidents', { body: { title: 't', severity: 'huge' } })
  // @ts-expect-error: there is no such address
  await client.get('/nowhere')
  expect(seen).toHaveLength(3)
})

test('an error response throws an OpsplaneError with all fields of the envelope', async () => {
  const { client } = await clientOf([failure(422, 'validation_failed', false)])
  const error = await client
    .post('/itsm/incidents', { body: { title: '' } })
    .catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(OpsplaneError)
  expect(error).toMatchObject({
    code: 'validation_failed',
    status: 422,
    message: 'No.',
    requestId: 'req-12345678',
    retryable: false,
    details: [{ path: '/title' }],
  })
})

test.each([undefined, 'text'] as const)(
  'numbers in request and response bodies keep all digits (%s)',
  async (parseAs) => {
    const extra = '[9007199254740993,{"n":-1234567890123456.7891}]'
    const record = parseExact(`{"id":"rec_1","extra":${extra}}`)
    const { client, seen } = await clientOf([{ status: 201, body: { data: record, meta } }])
    const path = { slug: 'assets' }
    const answer = await client.post('/tables/{slug}/records', {
      params: { path },
      body: { extra: parseExact(extra) },
      ...(parseAs && { parseAs }),
    })
    expect(seen[0]?.body).toBe(`{"extra":${extra}}`)
    const text = typeof answer === 'string' ? answer : stringifyExact(answer)
    expect(text).toContain(extra)
  },
)

test('an error response of a proxy throws an OpsplaneError as well', async () => {
  const { client } = await clientOf([{ status: 502, body: 'bad gateway', headers: { 'x-request-id': 'r' } }])
  await expect(client.get('/auth/me')).rejects.toMatchObject({
    code: undefined,
    status: 502,
    retryable: true,
    requestId: 'r',
    details: [],
  })
})

test('retries a retryable response and a lost connection with the same idempotency key', async () => {
  const { waited, retry } = waits()
  const { client, seen } = await clientOf([away, 'hang up', created], { retry })
  const { data } = await client.post('/itsm/incidents', { body: { title: 't' } })
  expect(data.id).toBe('inc_1')
  expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(seen).toHaveLength(3)
  expect(waited).toEqual([100, 200])
})

test('waits for Retry-After before a retry, and gives up if it is too long', async () => {
  const { waited, retry } = waits()
  const asking = (seconds: string): Reply => ({ ...away, headers: { 'retry-after': seconds } })
  const { client } = await clientOf([asking('3'), asking('60')], { retry })
  await expect(client.get('/auth/me')).rejects.toMatchObject({ status: 503 })
  expect(waited).toEqual([3000])
})

test('stops after the configured number of retries, and does not retry by default', async () => {
  const { retry } = waits()
  const patient = await clientOf([away, away, away, created], { retry })
  await expect(patient.client.get('/auth/me')).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(patient.seen).toHaveLength(3)
  server?.close()
  const refused = await clientOf([failure(409, 'conflict', false)], { retry })
  await expect(refused.client.get('/auth/me')).rejects.toMatchObject({ code: 'conflict' })
  server?.close()
  const plain = await clientOf([away])
  await expect(plain.client.get('/auth/me')).rejects.toMatchObject({ status: 503 })
})

test('a list is fetched page by page, only as far as the caller iterates', async () => {
  const page = (ids: string[], nextCursor: string | null, hasMore: boolean): Reply => ({
    status: 200,
    body: { data: ids.map((id) => ({ id })), pagination: { nextCursor, hasMore, limit: 2 }, meta },
  })
  const pages = [page(['a', 'b'], 'c1', true), page(['c'], 'c2', false)]
  const whole = await clientOf(pages)
  const ids: string[] = []
  const query = { limit: 2, status: ['open' as const] }
  for await (const incident of whole.client.items('/itsm/incidents', { params: { query } }))
    ids.push(incident.id)
  expect(ids).toEqual(['a', 'b', 'c'])
  expect(whole.seen.map(({ url }) => url?.split('?')[1])).toEqual([
    'limit=2&status=open',
    'limit=2&status=open&after=c1',
  ])
  server?.close()
  const part = await clientOf(pages)
  for await (const _ of part.client.items('/itsm/incidents')) break
  expect(part.seen).toHaveLength(1)
})
