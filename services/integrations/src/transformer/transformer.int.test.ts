import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { builtInRoles, EvaluationResult } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
let api: ApiClient
beforeAll(async () => {
  fixture = await startFixture()
  api = fixture.api
})
afterAll(() => fixture?.stop())

const evaluate = (body: object) => api.post('/transformer/evaluate', body)
const resultOf = async (body: object) => (await evaluate(body)).data(EvaluationResult).result

describe('POST /transformer/evaluate', () => {
  it('returns the result and the duration', async () => {
    const { result, durationMs } = (
      await evaluate({
        expression: '$sum(lines.(price * quantity)) * $rate',
        input: {
          lines: [
            { price: 12.5, quantity: 2 },
            { price: 5, quantity: 1 },
          ],
        },
        bindings: { rate: 2 },
      })
    ).data(EvaluationResult)
    expect(result).toBe(60)
    expect(durationMs).toBeGreaterThan(0)
  })

  it('returns any JSON value, and null for no result', async () => {
    expect(await resultOf({ expression: 'missing' })).toBeNull()
    expect(await resultOf({ expression: '$', input: [1, ['a']] })).toEqual([1, ['a']])
    expect(await resultOf({ expression: '$ & "!"', input: 'text' })).toBe('text!')
    expect(await resultOf({ expression: '{"a": input}', input: { input: null } })).toEqual({ a: null })
  })

  it.each([
    ['lines[price > ', 'expression_syntax', { position: 14, token: '(end)' }],
    ['1 + "a"', 'expression_error', { position: 3, token: '+' }],
    ['$eval("1")', 'expression_error', { position: 6, token: 'eval' }],
    ['($f := function() { $f() }; $f())', 'expression_timeout', {}],
    ['[1..100000000]', 'expression_too_large', expect.objectContaining({ position: 4 })],
  ])('reports the error in %p and its position', async (expression, code, params) => {
    const refused = await evaluate({ expression })
    expect(refused.status).toBe(422)
    expect(refused.error()).toMatchObject({
      code: 'validation_failed',
      details: [{ in: 'body', path: '/expression', code, params }],
    })
  })

  it('reports the invalid fields of the request', async () => {
    const refused = await evaluate({ expression: ' ', bindings: { 'a-b': 1 }, data: {} })
    expect(refused.status).toBe(422)
    expect(
      refused
        .error()
        .details.map(({ path }) => path)
        .sort(),
    ).toEqual(['/bindings/a-b', '/data', '/expression'])
  })

  it('is allowed only for roles that build', async () => {
    const body = { expression: '1' }
    const roles = Object.entries(builtInRoles).map(async ([role, { permissions }]) => {
      const { status } = await fixture.service
        .as(testPrincipal({ permissions: [...permissions] }))
        .post('/transformer/evaluate', body)
      return [role, status]
    })
    expect(Object.fromEntries(await Promise.all(roles))).toEqual({
      owner: 200,
      admin: 200,
      developer: 200,
      agent: 403,
      viewer: 403,
    })
  })
})
