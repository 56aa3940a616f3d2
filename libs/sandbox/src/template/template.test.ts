import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import jsonata from 'jsonata'
import { maxDepth } from '../limits.js'
import { maxExpressionLength } from './scan.js'
import { maxExpressions, parseTemplate, type TemplateProblem } from './template.js'

const sources = (value: unknown): string[] => {
  const parsed = parseTemplate(value)
  return 'template' in parsed ? parsed.template.expressions.map(({ source }) => source) : []
}
const problems = (value: unknown): TemplateProblem[] => {
  const parsed = parseTemplate(value)
  return 'problems' in parsed ? parsed.problems : []
}

test.each([
  ['{{ a.b }}', ['a.b']],
  ['x{{a}}y{{ b }}', ['a', 'b']],
  ['{{ {"a": {"b": 1}} }}', ['{"a": {"b": 1}}']],
  ['{{{"a":{"b":1}}}}', ['{"a":{"b":1}}']],
  [`{{ "}}" & '}}' & \`}}\` }}`, [`"}}" & '}}' & \`}}\``]],
  ['{{ "\\"}}" }}', ['"\\"}}"']],
  ['{{ a /* }} */ }}', ['a /* }} */']],
  ['{{ $match(a, /x{2}\\}\\}/i) }}', ['$match(a, /x{2}\\}\\}/i)']],
  ['{{ $match(a, /({\\}})\\/"/) }}', ['$match(a, /({\\}})\\/"/)']],
  ['{{ a / b }} and {{ c / d }}', ['a / b', 'c / d']],
  ['{{ * / 2 }}/', ['* / 2']],
  ['{{ a and /\\}\\}/ }}', ['a and /\\}\\}/']],
  ['{{ function($x){ {"y": $x} } }}', ['function($x){ {"y": $x} }']],
])('finds the expressions of %p', (text, expected) => {
  expect(sources(text)).toEqual(expected)
  for (const source of expected) expect(() => jsonata(source)).not.toThrow()
})

test('leaves texts without expressions and references to secrets unchanged', () => {
  const value = { a: 'x {{secrets.a-b.c}} { {', b: ['{{ secrets.token }}', 1, null, true], c: '}}' }
  expect(parseTemplate(value)).toEqual({ template: { root: { kind: 'constant', value }, expressions: [] } })
})

test.each([
  ['{{ $uppercase(secrets.a) }}', 'secret_in_expression', 11],
  ['{{ secrets.a & secrets.b }}', 'secret_in_expression', 0],
  ['{{ $$.secrets.a }}', 'secret_in_expression', 3],
  ['{{ `secrets`.a }}', 'secret_in_expression', 0],
  ['{{ secrets }}', 'secret_in_expression', 0],
  ['{{ }}', 'empty_expression', undefined],
  ['x {{ a', 'unterminated_expression', undefined],
  ['{{ a } }}', 'unterminated_expression', undefined],
  ['{{ "a }}', 'unterminated_expression', undefined],
  [`{{${'a'.repeat(maxExpressionLength + 1)}}}`, 'unterminated_expression', undefined],
])('rejects %p', (text, code, position) => {
  expect(problems({ 'x/y': ['', text] })).toEqual([
    expect.objectContaining({ path: '/x~1y/1', code, ...(position !== undefined && { position }) }),
  ])
})

test('accepts a field called "secrets" of another object', () => {
  expect(sources('{{ trigger.secrets.a }}{{ "secrets" }}')).toEqual(['trigger.secrets.a', '"secrets"'])
})

test('reports every problem of a value, including its structure', () => {
  let deep: unknown = '{{a}}'
  for (let level = 0; level <= maxDepth; level += 1) deep = [deep]
  const proto: unknown = JSON.parse('{"__proto__": {"a": 1}}')
  expect(problems({ a: '{{', b: '{{}}', deep, proto }).map(({ path, code }) => [path, code])).toEqual([
    ['/a', 'unterminated_expression'],
    ['/b', 'empty_expression'],
    [`/deep${'/0'.repeat(maxDepth - 1)}`, 'too_deep'],
    ['/proto/__proto__', 'forbidden_key'],
  ])
  expect(problems('{{a}}'.repeat(maxExpressions + 1))).toEqual([
    expect.objectContaining({ code: 'too_many_expressions' }),
  ])
})

test('parses any text without throwing', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    '"',
    "'",
    '`',
    '/',
    '/*',
    '*/',
    '\\',
    'a',
    'secrets',
    '.',
    ' ',
    '(',
    ']',
    '\ud800',
  )
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, (value) => expect(Object.keys(parseTemplate(value))).toHaveLength(1)),
    {
      numRuns: 2_000,
    },
  )
})
