import { expect, it } from '@jest/globals'
import { ApiError, type SourceParam } from '@opsplane/contracts'
import { parseParams } from './params.js'

const of = (type: SourceParam['type'], more: Partial<SourceParam> = {}): SourceParam => ({
  ...{ type, required: false, ...more },
})

it.each<[SourceParam, unknown[], unknown[]]>([
  [of('text', { maxLength: 2 }), ['', 'ab', '😀😀'], ['abc', 1, {}, ['a']]],
  [of('text', { enum: ['a', 'b'] }), ['a'], ['c', '']],
  [of('integer'), [1, -5, '9007199254740993'], [1.5, '1', 2 ** 60, '12345678901234567.5']],
  [of('decimal'), [1.5, '12.50', '-3'], ['1e5', '12.', 'x', Number.NaN]],
  [of('boolean'), [true, false], ['true', 0]],
  [of('date'), ['2026-03-01'], ['2026-02-30', '2026-03-01T00:00:00Z']],
  [of('timestamp'), ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00+02:00'], ['2026-03-01', 'now']],
  [of('json'), [{ a: [1] }, 'x', 0], []],
])('%j accepts valid values and rejects invalid ones', (param, good, bad) => {
  for (const value of good) expect(parseParams({ p: param }, { p: value })).toEqual({ p: value })
  for (const value of bad) expect(() => parseParams({ p: param }, { p: value })).toThrow(ApiError)
})

it('reports all invalid parameters, and omits absent ones', () => {
  expect(parseParams({ a: of('text'), b: of('text') }, { a: null })).toEqual({})
  const wrong = () => parseParams({ a: of('text', { required: true }), b: of('integer') }, { b: 'x', c: 1 })
  expect(wrong).toThrow('3 places')
})
