import { expect, test } from '@jest/globals'
import { cacheJson, readCachedJson } from './json-cache.js'

const meta = { requestId: 'req_1' }
const kept = (name: string) => cacheJson({ name, text: 'Grüße, 世界' })

test.each([
  ['one', { data: kept('a'), meta }],
  ['a list', { data: [kept('a'), kept('b')], pagination: { nextCursor: null, limit: 50 }, meta }],
  ['a list that has others too', { data: [kept('a'), { name: 'b' }], meta }],
])('a response consists of the cached JSON of its data: %s', (_what, body) => {
  expect(readCachedJson(body)?.toString()).toBe(JSON.stringify(body))
})

test('cached JSON is not serialized again', () => {
  const value = kept('a')
  Object.assign(value, { toJSON: () => expect(value).toBe('written once') })
  expect(readCachedJson({ data: [value], meta })?.toString()).toContain('"name":"a"')
})

test.each([
  [{ data: null, meta }],
  [{ data: [], meta }],
  [{ data: { name: 'a' }, meta }],
  [{ error: {}, meta }],
])('%j has no cached JSON', (body) => {
  expect(readCachedJson(body)).toBeUndefined()
})
