import { beforeAll, expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { z } from 'zod'
import { anyMediaType, defineRaw, defineStream, defineUpload, mergeOpenApi } from '../index.js'
import { openApiDocument } from './openapi.js'

const Line = z.object({ n: z.int().meta({ example: 1 }) }).meta({ id: 'ContentsTestLine' })
const about = { summary: 'Tries', description: 'Tries.', tag: 'tries', scope: 'itsm:read' } as const
const stream = { ...about, handler: async () => Promise.reject(new Error('never asked')) }
const upload = { ...about, method: 'post' as const, response: Line, handler: async () => ({ n: 1 }) }
const raw = { ...about, handler: async () => ({ status: 200, headers: {}, body: null }) }

const routes = [
  defineStream({ ...stream, operationId: 'lines', path: '/lines', line: Line }),
  defineStream({
    ...{ ...stream, operationId: 'either', path: '/either', line: Line },
    mediaTypes: ['text/csv', 'application/x-ndjson'],
  }),
  defineStream({
    ...{ ...stream, operationId: 'bytes', path: '/bytes', line: z.never() },
    mediaTypes: ['application/octet-stream'],
  }),
  defineUpload({ ...upload, operationId: 'sendCsv', path: '/csv', mediaTypes: ['text/csv'] }),
  defineUpload({ ...upload, operationId: 'sendAny', path: '/any', mediaTypes: [anyMediaType] }),
  defineRaw({
    ...{ ...raw, operationId: 'passOn', method: 'post', path: '/raw' },
    mediaTypes: [anyMediaType, 'application/json'],
  }),
]

const file = { type: 'string', format: 'binary' }
const ref = { $ref: '#/components/schemas/ContentsTestLine' }
const csv = { schema: file, example: 'id,name\n1,Ada\n' }
const lines = { schema: file, 'x-itemSchema': ref, example: '{"n":1}\n' }
const anObject = { schema: expect.objectContaining({ type: 'object', additionalProperties: {} }) }

let document: Awaited<ReturnType<typeof openApiDocument>>
beforeAll(async () => {
  document = await openApiDocument('tries', routes)
})
const operationAt = (path: string, method: 'get' | 'post') => {
  const { requestBody, responses } = document.paths?.[path]?.[method] ?? {}
  return { request: requestBody as { content: object } | undefined, answer: responses?.['200'] }
}

test.each([
  ['/lines', { 'application/x-ndjson': lines }],
  ['/either', { 'text/csv': csv, 'application/x-ndjson': lines }],
  ['/bytes', { 'application/octet-stream': csv }],
])('a response of %s is described as bytes, and NDJSON also with the schema of a line', (path, expected) => {
  expect(operationAt(path, 'get').answer?.content).toEqual(expected)
})

test.each([
  ['/csv', { 'text/csv': { schema: file } }],
  ['/any', { 'application/json': expect.objectContaining(anObject), '*/*': { schema: file } }],
  [
    '/raw',
    { 'application/json': expect.objectContaining(anObject), 'text/plain; charset=utf-8': { schema: file } },
  ],
])('a request body for %s is described as bytes or as a JSON object', (path, expected) => {
  expect(operationAt(path, 'post').request?.content).toEqual(expected)
})

test('a raw response is described as bytes first, then as any JSON', () => {
  const { content } = operationAt('/raw', 'post').answer as { content: object }
  expect(Object.entries(content)).toEqual([
    ['*/*', csv],
    ['application/json', { schema: {}, example: { name: 'Ada' } }],
  ])
})

test('the document is valid', async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(await mergeOpenApi([document]))))
  expect(result.errors ?? []).toEqual([])
})
