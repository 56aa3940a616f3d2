import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import jsonata from 'jsonata'
import { parsePlainPath, walkPlainPath } from './plain-path.js'

const times = Number(process.env.SEARCH_TIMES ?? 1)
const names = ['a', 'b', 'id', 'constructor', 'sequence', 'length', 'two words']
const name = fc.constantFrom(...names)
const { scope } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom(0, 1, -2.5, '', 'x', true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
  scope: fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4 }),
}))
const step = fc.tuple(name, fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 2 }))
const path = fc
  .array(step, { minLength: 1, maxLength: 4 })
  .map((steps) => steps.map(([field, places]) => `${quoted(field)}${places.map((at) => `[${at}]`).join('')}`))
  .map((steps) => steps.join('.'))

const quoted = (field: string) => (field.includes(' ') ? `\`${field}\`` : field)
/** The value after crossing a process boundary: without JSONata's markers on arrays. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

test('finds the same value as JSONata for a path of names and indexes', async () => {
  await fc.assert(
    fc.asyncProperty(scope, path, async (data, source) => {
      const steps = parsePlainPath(source)
      const found = steps && walkPlainPath(steps, data as object)
      expect(asJson(found)).toEqual(asJson(await jsonata(source).evaluate(data)))
    }),
    { numRuns: 600 * times },
  )
})

test('accepts no path that JSONata evaluates differently', async () => {
  const text = fc.array(
    fc.constantFrom('a', 'b1', '.', '[', ']', '0', '-1', ' ', '`', 'and', 'true', '$', '*'),
    {
      maxLength: 8,
    },
  )
  await fc.assert(
    fc.asyncProperty(text, async (pieces) => {
      const source = pieces.join('')
      const steps = parsePlainPath(source)
      fc.pre(steps !== undefined)
      const data = { a: [{ a: 1, b1: [2] }, [3]], b1: { a: { a: 4 } }, '': 5 }
      expect(asJson(walkPlainPath(steps ?? [], data))).toEqual(asJson(await jsonata(source).evaluate(data)))
    }),
    { numRuns: 400 * times, maxSkipsPerRun: 1_000 },
  )
})

test.each([
  '',
  'a +b',
  'a b',
  'a..b',
  '.a',
  'a.',
  '$.a',
  'a[b]',
  'a[]',
  'true',
  'not.in',
  'a.*',
  'a(b)',
  '1',
  'a.function',
])('leaves %p to JSONata', (source) => expect(parsePlainPath(source)).toBeUndefined())

// Takes minutes if each space is tried as a start.
test('parses a long text of spaces in linear time', () => {
  expect(parsePlainPath(`${' '.repeat(1_000_000)}!`)).toBeUndefined()
})
