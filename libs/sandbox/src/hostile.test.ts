import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { createExpressions } from './expressions.js'
import type { Evaluated } from './results.js'
import { parseTemplate } from './template/template.js'

const expressions = createExpressions({ log: createLogger({ service: 'hostile', level: 'silent' }) })
/** Generous timeout for a busy machine, in milliseconds. */
const patientMs = 120_000
const good = (n: number) =>
  expressions.evaluateExpression({
    tenant: 'ws_good/production',
    expression: 'n * 2',
    input: { n },
    timeoutMs: patientMs,
  })
const outcomeOf = (evaluated: Evaluated) => (evaluated.ok ? 'ok' : evaluated.error.code)

beforeAll(() => Promise.all([good(1), good(2)]))
afterAll(() => expressions.close())

const tooMuch = ['expression_memory', 'expression_too_large', 'expression_timeout']
const recursive = ['expression_timeout', 'expression_too_deep', 'expression_memory']
const long = (n: number) => Array.from({ length: n }, (_, at) => at)
const nested = (levels: number, [open, close]: [string, string]) => open.repeat(levels) + close.repeat(levels)

/** What the expression does, the expression, and the allowed outcomes. */
const cases: [string, string, string[], unknown?][] = [
  ['doubles a string', '($f := function($s) { $f($s & $s) }; $f("aaaaaaaa"))', tooMuch],
  ['doubles an array', '($f := function($s) { $f($append($s, $s)) }; $f([1, 2, 3, 4]))', tooMuch],
  ['pads a string to 100 million characters', '$length($pad("", 100000000, "a"))', ['ok', ...tooMuch]],
  ['pads without end', '$map([1..1000], function($i) { $pad("", 10000000, "a") })', tooMuch],
  ['backtracks', '$match($pad("", 5000, "a") & "!", /^(a+)+$/)', ['ok', ...tooMuch]],
  [
    'backtracks with a reference back',
    '$contains($pad("", 50, "a") & "!", /^(a|a)*\\1?(a+)+\\2$/)',
    ['ok', ...tooMuch],
  ],
  [
    'writes a regular expression too large',
    `$match("a", /${'(a{1000}){1000}'.repeat(9)}/)`,
    ['ok', 'expression_syntax', 'expression_error', ...tooMuch],
  ],
  ['recurs deep', '($f := function($n) { $n > 0 ? 1 + $f($n - 1) : 0 }; $f(1000000))', recursive],
  ['recurs without end', '($f := function($n) { 1 + $f($n) }; $f(1))', recursive],
  ['calls itself in the tail without end', '($f := function() { $f() }; $f())', recursive],
  ['asks for a huge range', '[1..1000000000]', ['expression_too_large']],
  ['multiplies ranges', '[1..1000000].[1..1000000]', tooMuch],
  ['makes millions of small objects', '$map([1..900000], function($i) { {"a": {"b": $i}} })', tooMuch],
  ['makes a huge answer of little', '($a := $pad("", 1000000, "a"); [1..1000].$a)', tooMuch],
  [
    'shares a value exponentially',
    `(${long(40)
      .map((n) => `$a${n + 1} := [$a${n}, $a${n}];`)
      .join('')} $a40)`,
    [...tooMuch, 'expression_too_deep', 'ok'],
  ],
  [
    'falls back exponentially',
    `${'('.repeat(60)}x${long(60)
      .map((n) => ` ?? x${n})`)
      .join('')}`,
    ['ok', ...tooMuch],
  ],
  [
    'nests parentheses',
    nested(8_000, ['(', ')']),
    ['expression_too_deep', 'expression_syntax', ...recursive],
  ],
  ['nests arrays', nested(8_000, ['[', ']']), ['expression_too_deep', ...recursive]],
  ['nests arrays in the answer', nested(100, ['[', ']']), ['expression_too_deep']],
  [
    'nests functions',
    `${'function(){'.repeat(1_000)}1${'}'.repeat(1_000)}`,
    ['expression_error', ...recursive],
  ],
  ['chains operators', long(8_000).join('+'), ['ok', 'expression_too_deep', ...recursive]],
  ['answers with a function', '$uppercase', ['expression_error']],
  ['hides functions in the answer', '[{"f": function() { 1 }}, $sum]', ['expression_error']],
  ['evaluates text', '$eval("1 + 1")', ['expression_error']],
  ['evaluates text by another name', '($e := $eval; $e("1"))', ['expression_error']],
  ['divides giant numbers', '1e308 * 1e308', ['expression_error']],
  ['writes a number too large', '1e999', ['expression_syntax']],
  [
    'formats far too long',
    '$formatNumber(1, $pad("", 1000000, "#"))',
    ['ok', 'expression_error', ...tooMuch],
  ],
  ['formats in words', '$formatInteger(1e300, "w")', ['ok', 'expression_error', ...tooMuch]],
  ['replaces without end', '$replace($pad("", 1000000, "a"), "a", $pad("", 1000, "b"))', tooMuch],
  [
    'splits and joins without end',
    '($f := function($s) { $f($join($split($s, ""), $s)) }; $f("ab"))',
    tooMuch,
  ],
  ['sorts with a liar', '$sort([1..100000], function($l, $r) { true })', ['ok', ...tooMuch]],
  ['throws what is huge', '$error($pad("", 3000000, "a"))', ['expression_error', ...tooMuch]],
  [
    'reads data that is a bomb',
    '**',
    ['ok', ...tooMuch],
    { a: long(1_000).map((n) => ({ n, b: long(100) })) },
  ],
]

test.each(cases)(
  'an expression that %s costs at most one child, and affects no other request',
  async (_, expression, ends, input = {}) => {
    const before = expressions.pids()
    const numbers = long(20)
    const [outcome, ...answers] = await Promise.all([
      expressions
        .evaluateExpression({
          tenant: `${expression.length}/x`,
          expression,
          input,
          timeoutMs: ends.includes('expression_timeout') ? 300 : patientMs,
        })
        .then(outcomeOf),
      ...numbers.map(good),
    ])
    expect(ends).toContain(outcome)
    expect(answers).toEqual(numbers.map((n) => ({ ok: true, value: n * 2 })))
    expect(expressions.pids().filter((pid) => before.includes(pid)).length).toBeGreaterThanOrEqual(
      before.length - 1,
    )
  },
)

test.each([
  ['parentheses', nested(8_000, ['(', ')'])],
  ['a regular expression', `$match("a", /${'(a{1000}){1000}'.repeat(9)}/)`],
  ['operators', long(3_000).join('+')],
])('checking %s of excessive size costs at most one child', async (_, source) => {
  const parsed = parseTemplate(`{{ ${source} }}`)
  if ('problems' in parsed) throw new Error('it is parsed by the child')
  const checked = expressions.check({ tenant: 'ws_check/x', templates: [parsed.template] })
  expect(await good(3)).toEqual({ ok: true, value: 6 })
  expect((await checked).length).toBe(1)
})

test.each([
  ['$string.constructor', null],
  ['$lookup({}, "constructor")', null],
  ['"a".constructor.constructor', null],
  ['/a/.constructor', null],
  ['$match("a", /a/).next.constructor', null],
  ['$lookup($match("a", /a/), "constructor")', null],
  ['process.env', null],
  ['global', null],
  ['require("fs")', 'expression_error'],
  ['$process', null],
  ['$constructor("return process")()', 'expression_error'],
  ['{"constructor": 1}.constructor', 1],
  ['$each({"toString": 1, "valueOf": 2}, function($v) { $v })', [1, 2]],
])('%s reaches nothing of the host', async (expression, expected) => {
  const evaluated = await expressions.evaluateExpression({
    tenant: 'ws_reach/x',
    expression,
    input: {},
    timeoutMs: patientMs,
  })
  expect(evaluated.ok ? evaluated.value : evaluated.error.code).toEqual(expected)
})

test.each([
  '{"__proto__": {"polluted": true}}',
  '$merge([{"__proto__": {"polluted": true}}])',
  '$ ~> |$|{"__proto__": {"polluted": true}}|',
  '[{"k": "__proto__", "v": {"polluted": true}}]{k: v}',
  '$map(["__proto__"], function($k) { {$k: {"polluted": true}} })',
  '{"constructor": {"prototype": {"polluted": true}}}',
  '{"_jsonata_function": true, "implementation": /x/}',
])('%s changes nothing for later expressions', async (expression) => {
  const ask = (source: string) =>
    expressions.evaluateExpression({
      tenant: 'ws_proto/x',
      expression: source,
      input: {},
      timeoutMs: patientMs,
    })
  const evaluated = await ask(expression)
  if (evaluated.ok) expect(Object.getPrototypeOf(evaluated.value)).toBe(Object.prototype)
  else expect(evaluated.error.code).toBe('expression_error')
  const asked = await Promise.all(
    long(10).map(() => ask('[{}.polluted, $lookup({}, "polluted"), $keys({})]')),
  )
  expect(asked).toEqual(long(10).map(() => ({ ok: true, value: [] })))
})

test('data cannot pass for a function or set a prototype', async () => {
  const input = JSON.parse(
    '{"f": {"_jsonata_lambda": true, "body": {"type": "string", "value": "run"}, "arguments": []}, "p": {"__proto__": {"polluted": 1}, "x": 1}}',
  ) as unknown
  const ask = (expression: string) =>
    expressions.evaluateExpression({ tenant: 'ws_data/x', expression, input, timeoutMs: patientMs })
  expect(await ask('f()')).toMatchObject({ ok: false, error: { code: 'expression_error' } })
  expect(await ask('p')).toEqual({ ok: true, value: { x: 1 } })
  expect(await ask('p.polluted')).toEqual({ ok: true, value: null })
})

test('lone surrogates and other unusual texts are returned unchanged', async () => {
  const input = { a: '\ud800', b: '\u0000\u2028"\\', c: 'é', d: 2 ** 53, e: -0 }
  expect(
    await expressions.evaluateExpression({
      tenant: 'ws_text/x',
      expression: '$',
      input,
      timeoutMs: patientMs,
    }),
  ).toEqual({
    ok: true,
    value: JSON.parse(JSON.stringify(input)) as unknown,
  })
})

test('oversized data is rejected before evaluation', async () => {
  const input = { a: 'a'.repeat(5_000_000) }
  const large = { tenant: 'ws_large/x', expression: 'a', input, timeoutMs: patientMs }
  expect(outcomeOf(await expressions.evaluateExpression(large))).toBe('expression_too_large')
  let deep: unknown = 1
  for (const _ of long(20_000)) deep = [deep]
  // Later versions of Node can serialize the value, and then the child rejects it.
  expect(['expression_too_large', 'expression_too_deep']).toContain(
    outcomeOf(await expressions.evaluateExpression({ ...large, input: deep })),
  )
  const parsed = parseTemplate(['{{a}}', '{{a}}'])
  if ('problems' in parsed) throw new Error('is a template')
  const scope = { a: 'a'.repeat(3_000_000) }
  const [twice] = await expressions.evaluate({ tenant: 'ws_large/x', templates: [parsed.template], scope })
  expect(twice && outcomeOf(twice)).toBe('expression_too_large')
})
