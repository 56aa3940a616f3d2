import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { request } from 'undici'
import { z } from 'zod'
import { cacheDocument, defineDocument } from '../index.js'
import { gatewayToken, startTestApp, type TestApp } from '../server/test-app.fixture.js'

const text = JSON.stringify({ words: 'lamp '.repeat(2_000) })
const noise = Buffer.from(Array.from({ length: 64 }, (_, at) => (at * 89) % 251))

const documents = {
  text: cacheDocument('application/json', Buffer.from(text)),
  noise: cacheDocument('image/png', noise),
  built: cacheDocument('text/css', Buffer.from('plain'.repeat(10)), { br: Buffer.from('made by the build') }),
}

let app: TestApp
beforeAll(async () => {
  const route = defineDocument({
    operationId: 'getDocument',
    path: '/documents/:name',
    summary: 'Get a document',
    tag: 'documents',
    scope: 'public',
    response: z.looseObject({}),
    params: z.object({ name: z.enum(['text', 'noise', 'built']) }),
    handler: async ({ params }) => ({
      document: documents[params.name],
      headers: { 'Cache-Control': 'no-cache' },
    }),
  })
  app = await startTestApp([route])
})
afterAll(() => app.close())

/** Returns the raw bytes, without the decoding of a client. */
async function get(name: keyof typeof documents, headers: Record<string, string> = {}) {
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(`${app.url}/documents/${name}`, {
    headers: { authorization: `Bearer ${await gatewayToken()}`, ...headers },
  })
  return { status: statusCode, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) }
}

describe('a cached document', () => {
  test.each([
    [undefined, undefined],
    ['identity', undefined],
    ['gzip, deflate', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.0, gzip;q=0', undefined],
  ])(
    'is sent for Accept-Encoding %p with the coding %p and an ETag of that coding',
    async (accepted, coding) => {
      const answer = await get('text', accepted === undefined ? {} : { 'accept-encoding': accepted })
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(answer.bytes.length),
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
        etag: expect.stringMatching(new RegExp(`^"[0-9a-f]{32}${coding ? `-${coding}` : ''}"$`)),
      })
      expect(answer.headers['content-encoding']).toBe(coding)
      const decode = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? '']
      expect((decode ? decode(answer.bytes) : answer.bytes).toString()).toBe(text)
      if (coding) expect(answer.bytes.length).toBeLessThan(text.length / 10)
    },
  )

  test.each(['gzip', 'br'])(
    'that compression does not shorten is sent uncompressed, also for %s',
    async (accepted) => {
      const answer = await get('noise', { 'accept-encoding': accepted })
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(answer.bytes).toEqual(noise)
    },
  )

  test('is sent with a precompressed coding', async () => {
    const answer = await get('built', { 'accept-encoding': 'br' })
    expect(answer.bytes.toString()).toBe('made by the build')
  })

  test.each([{}, { 'accept-encoding': 'br' }])(
    'with a matching If-None-Match is answered with 304 and no body: %p',
    async (headers) => {
      const { etag } = (await get('text', headers)).headers
      for (const seen of [`${etag}`, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await get('text', { ...headers, 'if-none-match': seen })
        expect([again.status, again.headers.etag, again.bytes.length]).toEqual([304, etag, 0])
        expect(again.headers).not.toHaveProperty('content-encoding')
      }
      expect((await get('text', { ...headers, 'if-none-match': '"other"' })).status).toBe(200)
    },
  )

  test('with an outdated If-Match is answered with 412', async () => {
    const { etag } = (await get('text')).headers
    expect((await get('text', { 'if-match': `${etag}` })).status).toBe(200)
    const refused = await get('text', { 'if-match': '"other"' })
    expect([refused.status, JSON.parse(refused.bytes.toString()).error.code]).toEqual([
      412,
      'precondition_failed',
    ])
  })

  test('is compressed once and always has the same bytes', async () => {
    const bytes = await Promise.all(Array.from({ length: 5 }, () => documents.text.bytesFor('br')))
    expect(new Set(bytes.map((encoded) => encoded.bytes)).size).toBe(1)
  })
})
