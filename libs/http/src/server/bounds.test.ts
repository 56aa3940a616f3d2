import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ErrorEnvelope } from '@opsplane/contracts'
import { z } from 'zod'
import { defineRoute } from '../index.js'
import { startTestApp, type TestAnswer, type TestApp } from './test-app.fixture.js'

const Anything = z.object({ sum: z.int() })
const base = { tag: 'things', summary: 'A thing', scope: 'itsm:read', response: Anything } as const

let app: TestApp
let handled = 0
beforeAll(async () => {
  app = await startTestApp([
    defineRoute({
      ...base,
      operationId: 'findThings',
      method: 'get',
      path: '/things',
      query: z.object({ id: z.array(z.string()).optional(), q: z.string().optional() }),
      handler: async ({ query }) => ({ sum: query.id?.length ?? 0 }),
    }),
    defineRoute({
      ...base,
      operationId: 'takeAnything',
      method: 'post',
      path: '/things',
      bodyLimitBytes: 16 * 1024 * 1024,
      body: z.unknown(),
      handler: async () => ({ sum: ++handled }),
    }),
  ])
})
afterAll(() => app.close())

const problemsOf = ({ json }: TestAnswer) =>
  ErrorEnvelope.parse(json).error.details.map(({ in: place, path, code }) => ({ place, path, code }))

describe('a query', () => {
  test('of more than 500 parameters is rejected before it is parsed', async () => {
    const answer = await app.call('GET', `/things?${'a&'.repeat(7_500)}a`)
    expect(answer.status).toBe(422)
    expect(problemsOf(answer)).toEqual([{ place: 'query', path: '', code: 'too_many_parameters' }])
  })

  test('of 500 parameters is parsed, with repeated parameters as a list', async () => {
    const answer = await app.call('GET', `/things?${'id=1&'.repeat(500)}`)
    expect(answer.json).toMatchObject({ data: { sum: 500 } })
    expect(problemsOf(await app.call('GET', '/things?q=1&q=2&q=3'))).toEqual([
      { place: 'query', path: '/q', code: 'invalid_type' },
    ])
  })
})

describe('a body', () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]))
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const values = (count: number) => Array.from({ length: count / 1_000 }, () => Array(999).fill(1))

  test.each<[string, unknown, string]>([
    ['an object of 2,001 keys', keys(2_001), 'too_many_keys'],
    ['a filter of 60,000 keys', { filter: keys(60_000) }, 'too_many_keys'],
    ['a list of 10,001 items', { list: Array(10_001).fill(0) }, 'too_many_items'],
    ['251,000 values in all', values(251_000), 'too_many_values'],
  ])('with %s is rejected', async (_what, body, code) => {
    const before = handled
    const answer = await app.call('POST', '/things', { body })
    expect(answer.status).toBe(422)
    expect(problemsOf(answer)).toEqual([{ place: 'body', path: '', code }])
    expect(handled).toBe(before)
  })

  test.each([
    ['101 levels', nested(101)],
    ['half a million levels', nested(500_000)],
    ['levels behind texts', `["\\\\","\\"[[[",${nested(100)}]`],
  ])('with a nesting of %s is rejected', async (_what, rawBody) => {
    const answer = await app.call('POST', '/things', { rawBody })
    expect(answer.status).toBe(422)
    expect(problemsOf(answer)).toMatchObject([{ place: 'body', code: 'too_deep' }])
  })

  test.each<[string, unknown]>([
    ['as many keys as may be', keys(2_000)],
    ['as many items as may be', Array(10_000).fill({})],
    ['as many values as may be', values(249_000)],
    ['as many levels as may be', JSON.parse(nested(100))],
    ['texts full of what would be structure', { text: '"[{,'.repeat(100_000), backslash: '\\' }],
  ])('with %s is accepted', async (_what, body) => {
    expect((await app.call('POST', '/things', { body })).status).toBe(200)
  })

  test('with a long invalid key is rejected with a short response', async () => {
    const long = 'k'.repeat(900_000)
    const answer = await app.call('POST', '/things', { rawBody: `{"${long}":"\\u0000"}` })
    expect(answer.status).toBe(422)
    expect(answer.text.length).toBeLessThan(2_000)
  })
})
