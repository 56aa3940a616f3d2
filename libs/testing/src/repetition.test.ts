import { describe, expect, it } from '@jest/globals'
import { isRepeatable, type RepeatedAnswer, repetitionProblems } from './repetition.js'

const answer = (
  body: unknown,
  { status = 201, ...headers }: Record<string, unknown> = {},
): RepeatedAnswer => ({
  status: Number(status),
  body,
  header: (name) => headers[name] as string | undefined,
})
const replayed = { 'idempotency-replayed': 'true' }
const made = { data: { id: 'a', version: 1 } }

describe('a repeated request', () => {
  it('is sent for a successful request with an idempotency key, unless it is a GET', () => {
    const headers = { 'Idempotency-Key': 'k' }
    expect(isRepeatable({ method: 'POST', headers }, 201)).toBe(true)
    expect(isRepeatable({ method: 'POST', headers: {} }, 201)).toBe(false)
    expect(isRepeatable({ method: 'GET', headers }, 200)).toBe(false)
    expect(isRepeatable({ method: 'PUT', headers }, 422)).toBe(false)
  })

  it('must return the same response, except for the request id', () => {
    const first = answer({ ...made, meta: { requestId: 'one' } }, { etag: '"1"', location: '/a' })
    const again = answer(
      { ...made, meta: { requestId: 'two' } },
      { etag: '"1"', location: '/a', ...replayed },
    )
    expect(repetitionProblems(first, again)).toEqual([])
  })

  it.each<[string, unknown, Record<string, unknown>]>([
    ['another status', made, { status: 200, etag: '"1"', ...replayed }],
    ['another etag', made, { etag: '"2"', ...replayed }],
    ['another location', made, { etag: '"1"', location: '/b', ...replayed }],
    ['another body', { data: { made: made.data } }, { etag: '"1"', ...replayed }],
    ['performed once more', made, { etag: '"1"' }],
  ])('must not return a response with this difference: %s', (problem, body, headers) => {
    const problems = repetitionProblems(answer(made, { etag: '"1"' }), answer(body, headers))
    expect(problems).toEqual([expect.stringContaining(problem)])
  })

  it('must not return a secret again', () => {
    const first = answer({ data: { token: 'ops_plain', path: '/embed?t=ops_plain', name: 'a' } })
    const kept = { token: null, path: null, name: 'a' }
    expect(repetitionProblems(first, answer({ data: kept }, replayed))).toEqual([])
    expect(
      repetitionProblems(first, answer({ data: { ...kept, token: 'ops_plain' } }, replayed)),
    ).toHaveLength(1)
  })
})
