import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parse } from 'yaml'
import { formatYamlInSlices } from './yaml-in-slices.js'

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    '404',
    'null',
    '/path/{id}',
    '- a',
    '# b',
    'key: value',
    ' a\n\n  b\n',
    'long words '.repeat(20),
    '\u2028',
    'a\u2029b\u0085c\rd',
  ),
)
const leaf = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null))
const value: fc.Arbitrary<unknown> = fc.letrec((again) => ({
  value: fc.oneof({ maxDepth: 5 }, leaf, fc.array(again('value'), { maxLength: 3 }), again('members')),
  members: fc.dictionary(
    words.filter((name) => name !== '__proto__'),
    again('value'),
    { maxKeys: 4, noNullPrototype: true },
  ),
})).value

test('a document formatted as YAML in slices parses to the same document', async () => {
  const documents = fc.dictionary(
    words.filter((name) => name !== '__proto__'),
    value,
    { minKeys: 1, maxKeys: 5, noNullPrototype: true },
  )
  await fc.assert(
    fc.asyncProperty(documents, async (document) => {
      expect(parse((await formatYamlInSlices(document)).toString())).toEqual(document)
    }),
    { numRuns: 500 },
  )
})
