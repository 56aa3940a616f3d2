import { expect, test } from '@jest/globals'
import { ExpressionError, evaluate, evaluateAsync, namedData } from './evaluate.js'

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
])('evaluates %j synchronously', (template, value) => {
  expect(evaluate(template, scope)).toEqual({ now: value })
})

test('evaluates other expressions asynchronously with JSONata', async () => {
  expect(evaluate('{{ $count(data.items.rows) }}', scope)).toHaveProperty('later')
  expect(await evaluateAsync('{{ $count(data.items.rows[open]) }} of {{ inputs.count }}', scope)).toBe(
    '1 of 3',
  )
})

const digits = '1234567890123456.7891'

test.each([
  ['$sum([0.1, 0.2])', 0.3],
  ['$sum([])', 0],
  ['$sum([1e21, -1e21, 0.1])', 0.1],
  ['$sum(absent)', null],
  ['$sum([1/3, 100, 0.1])', 100.43333333333334],
  ['$average([1/3, 100])', 50.166666666666664],
  ['$average([0.1, 0.2])', 0.15],
  ['$average([1, 2, 2])', 5 / 3],
  ['$average([])', null],
  ['$number("12.50")', 12.5],
  ['$number("1e21")', 1e21],
  ['$number("0x1F")', 31],
  ['$number(true)', 1],
  ['$number(0.1)', 0.1],
  ['"12.50" ~> $number', 12.5],
])('computes in decimals: %s is %d', async (expression, value) => {
  expect(await evaluateAsync(`{{ ${expression} }}`, scope)).toBe(value)
})

test.each([
  [`$number("${digits}")`, `${digits} has more digits than a number`],
  ['$number("9007199254740993")', 'has more digits'],
  ['$sum([9007199254740992, 1])', '9007199254740993 has more digits'],
  ['$average([9007199254740992, 1])', 'has more digits'],
  ['$sum([123456789012.34, 0.000001])', '123456789012.340001 has more digits'],
  ['$number("1e-400")', 'has more digits'],
  ['$number("none")', 'Unable to cast value to a number'],
  ['$sum(["1"])', 'must be an array of "numbers"'],
])('rejects a value that no number represents exactly: %s', async (expression, message) => {
  await expect(evaluateAsync(`{{ ${expression} }}`, scope)).rejects.toThrow(message)
})

test.each(['{{ $nowhere() }}', '{{ (', '{{ $eval("1") }}', '{{ ($f := function() { $f() }; $f()) }}'])(
  'reports the error in %s',
  async (template) => {
    await expect(evaluateAsync(template, scope)).rejects.toThrow(ExpressionError)
  },
)

test('finds the data that expressions refer to', () => {
  expect(
    namedData([{ value: '{{ data.items.rows }}' }, 'data.text', '{{ $sum(data.`a b`.value) }}']),
  ).toEqual(expect.arrayContaining(['items', 'a b']))
})
