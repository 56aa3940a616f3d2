import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { defineRoute } from '../index.js'
import { openApiDocument } from '../openapi/openapi.js'
import { startTestApp, type TestApp } from './test-app.fixture.js'

const read = defineRoute({
  operationId: 'readChart',
  method: 'get',
  path: '/chart.json',
  summary: 'A document in a format of its own',
  tag: 'charts',
  scope: 'itsm:read',
  response: z.looseObject({ chart: z.literal('1.0') }),
  bare: true,
  handler: async () => ({ chart: '1.0' as const, meta: 'its own' }),
})

const long = 'ä€😀'.repeat(30_000)
const readLong = defineRoute({
  operationId: 'readLong',
  method: 'get',
  path: '/long',
  summary: 'A long answer',
  tag: 'charts',
  scope: 'itsm:read',
  response: z.object({ text: z.string() }),
  handler: async () => ({ text: long }),
})

let app: TestApp
beforeAll(async () => {
  app = await startTestApp([read, readLong])
})
afterAll(() => app.close())

test('a bare response is the document itself, and errors keep their envelope', async () => {
  const answer = await app.call('GET', '/chart.json')
  expect(answer.json).toEqual({ chart: '1.0', meta: 'its own' })
  expect(answer.headers['x-request-id']).toBeDefined()
  expect((await app.call('GET', '/chart.json', { token: null })).json).toMatchObject({
    error: { code: 'unauthenticated' },
  })
})

test('OpenAPI describes a bare response without an envelope', async () => {
  const { paths } = await openApiDocument('charts', [read])
  expect(paths?.['/chart.json']?.get?.responses?.['200']).toMatchObject({
    content: { 'application/json': { schema: { type: 'object', properties: { chart: { enum: ['1.0'] } } } } },
  })
})

test('a long response is complete, whatever the length of its characters in bytes', async () => {
  const answer = await app.call('GET', '/long')
  expect(answer.json).toMatchObject({ data: { text: long } })
  expect(Number(answer.headers['content-length'])).toBeGreaterThan(270_000)
})
