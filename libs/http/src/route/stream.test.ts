import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { z } from 'zod'
import { defineStream } from '../index.js'
import { openApiDocument } from '../openapi/openapi.js'
import { gatewayToken, startTestApp, type TestApp, user } from '../server/test-app.fixture.js'

type Batches = () => AsyncGenerator<{ n: number; padding?: string }[]>

/** The batches the route sends; set by each test. */
let source: Batches
const numbers = defineStream({
  operationId: 'exportNumbers',
  path: '/numbers',
  summary: 'Numbers',
  tag: 'numbers',
  scope: 'itsm:read',
  query: z.object({ upTo: z.coerce.number().optional() }),
  line: z.object({ n: z.int(), padding: z.string().optional() }),
  handler: async () => ({ fileName: 'numbers.ndjson', batches: source() }),
})

let app: TestApp
beforeAll(async () => {
  app = await startTestApp([numbers])
})
afterAll(() => app.close())

async function open(): Promise<IncomingMessage> {
  const authorization = `Bearer ${await gatewayToken(user)}`
  const request = httpRequest(`${app.url}/numbers`, { headers: { authorization }, agent: false }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

test('sends one line for each object, as a file attachment', async () => {
  source = async function* () {
    yield [{ n: 1 }, { n: 2 }]
    yield [{ n: 3 }]
  }
  const response = await open()
  expect(await text(response)).toBe('{"n":1}\n{"n":2}\n{"n":3}\n')
  expect(response.headers).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': 'attachment; filename="numbers.ndjson"',
    'x-content-type-options': 'nosniff',
  })
  expect((await app.call('GET', '/numbers?color=red')).status).toBe(422)
})

test('answers a failure before the first line with an error', async () => {
  // biome-ignore lint/correctness/useYield: fails before the first batch
  source = async function* () {
    throw new ApiError('service_unavailable', 'Away.')
  }
  expect((await app.call('GET', '/numbers')).json).toMatchObject({ error: { code: 'service_unavailable' } })
})

test('aborts the connection on a later failure', async () => {
  let fail: (error: Error) => void = () => undefined
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  source = async function* () {
    yield [{ n: 1 }]
    await failure
  }
  const response = await open()
  fail(new Error('the database went away'))
  expect(response.statusCode).toBe(200)
  await expect(response.toArray()).rejects.toThrow('aborted')
  expect(app.logged()).toContainEqual(expect.objectContaining({ route: '/numbers', level: 50 }))
})

test('reads no further than the client receives, and stops when the client disconnects', async () => {
  // Many times the capacity of the buffers in between.
  const limit = 1_000
  const padding = 'x'.repeat(100_000)
  let asked = 0
  const left = new Promise<void>((resolve) => {
    source = async function* () {
      try {
        while (asked++ < limit) yield [{ n: asked, padding }]
      } finally {
        resolve()
      }
    }
  })
  const response = await open()
  response.destroy()
  await left
  expect(asked).toBeLessThan(limit)
})

test('the OpenAPI document describes the schema of a line', async () => {
  const { paths } = await openApiDocument('numbers', [numbers])
  expect(paths?.['/numbers']?.get?.responses?.['200']).toMatchObject({
    content: {
      'application/x-ndjson': {
        schema: { type: 'string', format: 'binary' },
        'x-itemSchema': { type: 'object', properties: { n: { type: 'integer' } } },
      },
    },
  })
})
