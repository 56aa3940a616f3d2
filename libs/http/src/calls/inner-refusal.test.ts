import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ApiError, ErrorEnvelope, errorCodes, errorTable } from '@opsplane/contracts'
import { z } from 'zod'
import { defineRoute, readdress, type ServiceClient, serviceClient } from '../index.js'
import { issuerFor, startTestApp, type TestApp } from '../server/test-app.fixture.js'
import { createAddressFinder, InnerRefusal } from './inner-refusal.js'

/** Error of the inner request: its code, and the part of the request that has the problem, if any. */
const Refusal = z.object({
  code: z.enum(errorCodes),
  place: z.enum(['body', 'query', 'none']),
})
type Refusal = z.infer<typeof Refusal>

const inner = defineRoute({
  operationId: 'refuse',
  method: 'post',
  path: '/internal/refuse',
  tag: 'internal',
  summary: 'Refuse',
  scope: 'service',
  callers: ['itsm'],
  query: z.object({ q: z.string() }),
  body: Refusal,
  response: z.void(),
  handler: async ({ body: { code, place } }) => {
    const details =
      place === 'none'
        ? []
        : [{ in: place, path: '/inner', code: 'wrong', message: 'is wrong', params: { a: 1 } }]
    throw new ApiError(code, 'Refused.', { details, headers: { 'Retry-After': '17' } })
  },
})

/** A client's route that calls another service. */
const outer = (client: () => ServiceClient) =>
  defineRoute({
    operationId: 'ask',
    method: 'post',
    path: '/asks',
    tag: 'outer',
    summary: 'Ask',
    scope: 'authenticated',
    idempotency: 'none',
    body: Refusal.extend({ field: z.string().optional() }),
    response: z.unknown(),
    handler: async ({ body: { field, ...refusal } }) =>
      client()
        .post('/internal/refuse?q=secret', refusal, z.unknown())
        .catch((error: unknown) => {
          throw field === undefined
            ? error
            : readdress(error, createAddressFinder({ 'body /inner': `body ${field}` }))
        }),
  })

let app: TestApp
let client: ServiceClient
beforeAll(async () => {
  app = await startTestApp([inner, outer(() => client)])
  client = serviceClient({ baseUrl: app.url, audience: 'sut', issuer: issuerFor('itsm'), timeoutMs: 30_000 })
})
afterAll(async () => {
  await client?.close()
  await app?.close()
})

const ask = async (body: Refusal & { field?: string }) => {
  const answer = await app.call('POST', '/asks', { body })
  return { ...answer, error: ErrorEnvelope.parse(answer.json).error }
}
/** Statuses that mean the same to a client that did not make the inner request. */
const passedOn = [401, 403, 429]

test.each(errorCodes.flatMap((code) => [[code, 'body'] as const, [code, 'none'] as const]))(
  'an inner refusal with %s and details in %s reveals no inner field, or becomes a 5xx',
  async (code, place) => {
    const { status } = errorTable[code]
    const { error, headers } = await ask({ code, place })
    const isPassedOn = status >= 500 || passedOn.includes(status)
    expect(error.status).toBe(isPassedOn ? status : errorTable[code].retryable ? 502 : 500)
    expect(error.details.map(({ path }) => path)).toEqual(isPassedOn && place !== 'none' ? [''] : [])
    if (isPassedOn) expect([error.code, headers['retry-after']]).toEqual([code, '17'])
  },
)

test.each(
  errorCodes.filter((code) => errorTable[code].status < 500 && !passedOn.includes(errorTable[code].status)),
)(
  'an inner refusal with %s keeps its code if every problem maps to a field of the outer request',
  async (code) => {
    const placed = await ask({ code, place: 'body', field: '/field' })
    expect([placed.error.code, placed.error.details]).toEqual([
      code,
      [{ in: 'body', path: '/field', code: 'wrong', message: 'is wrong', params: { a: 1 } }],
    ])
    expect((await ask({ code, place: 'query', field: '/field' })).status).toBeGreaterThanOrEqual(500)
  },
)

const refusalOf = (
  details: ApiError['details'],
  code: 'not_found' | 'validation_failed' = 'validation_failed',
) =>
  new InnerRefusal({
    ...{
      service: 'itsm',
      operation: 'GET /internal/x',
      code,
      message: 'Refused.',
      details,
      retryAfter: undefined,
    },
  })
const problem = (place: 'body' | 'query', path: string) => ({
  ...{ in: place, path, code: 'wrong', message: 'is wrong' },
})

test('paths below a mapped inner field map below the outer field, and all others to the default field', () => {
  const find = createAddressFinder({ 'query /filter': 'body /source/filters', '': 'path /id' })
  const error = readdress(
    refusalOf([problem('query', '/filter/a~1b'), problem('query', '/filters'), problem('body', '/filter')]),
    find,
  ) as ApiError
  expect(error.details.map(({ in: place, path }) => `${place} ${path}`)).toEqual([
    ...['body /source/filters/a~1b', 'path /id', 'path /id'],
  ])
})

test('a refusal with an unmapped problem stays a fault of the platform', () => {
  const refusal = refusalOf([problem('body', '/a'), problem('body', '/b')])
  expect(readdress(refusal, createAddressFinder({ 'body /a': 'body /c' }))).toBe(refusal)
})

test('a refusal without details is attributed to the whole inner request', () => {
  const error = readdress(
    refusalOf([], 'not_found'),
    createAddressFinder({ body: 'body /table' }),
  ) as ApiError
  expect([error.code, error.details]).toEqual([
    ...['not_found', [{ in: 'body', path: '/table', code: 'not_found', message: 'Refused.' }]],
  ])
})

test('the log names the service, the operation without its query, and the problems', async () => {
  await ask({ code: 'payload_too_large', place: 'body' })
  const logged = app.logged().map(({ err }) => (err as { message?: string } | undefined)?.message)
  expect(logged).toContain('sut refused POST /internal/refuse with payload_too_large, body /inner wrong')
})
