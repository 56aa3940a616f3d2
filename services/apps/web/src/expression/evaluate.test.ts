import { expect, test } from '@jest/globals'
import { ExpressionError, evaluate, evaluated, namedData } from './evaluate.js'

const scope = {
  inputs: { name: 'Ada', count: 3 },
  data: { items: { rows: [{ open: true }, { open: false }] } },
}

test.each([
  ['{{ inputs.count }}', 3],
  ['{{ inputs.name }} has {{ inputs.count }}', 'Ada has 3'],
  [
    { a: ['{{ inputs.name }}'], b: 1 },
    { a: ['Ada'], b: 1 },
  ],
  ['{{ inputs.missing }}', null],
  ['none', 'none'],
  [true, true],
])('knows %j at once', (template, value) => {
  expect(evaluate(template, scope)).toEqual({ now: value })
})

test('has JSONata for the rest', async () => {
  expect(evaluate('{{ $count(data.items.rows) }}', scope)).toHaveProperty('later')
  expect(await evaluated('{{ $count(data.items.rows[open]) }} of {{ inputs.count }}', scope)).toBe('1 of 3')
})

test.each(['{{ $nowhere() }}', '{{ (', '{{ $eval("1") }}', '{{ ($f := function() { $f() }; $f()) }}'])(
  'says of %s what is wrong',
  async (template) => {
    await expect(evaluated(template, scope)).rejects.toThrow(ExpressionError)
  },
)

test('finds the data that expressions name', () => {
  expect(
    namedData([{ value: '{{ data.items.rows }}' }, 'data.text', '{{ $sum(data.`a b`.value) }}']),
  ).toEqual(expect.arrayContaining(['items', 'a b']))
})
