import { afterAll, expect, test } from '@jest/globals'
import { ExactNumber } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { createExpressions } from './expressions.js'
import { parseTemplate, type Template } from './template/template.js'

const log = createLogger({ service: 'sandbox', level: 'silent' })
/** Generous timeout for a busy machine. */
const expressions = createExpressions({ log, timeoutMs: 60_000 })
afterAll(() => expressions.close())

const tenant = 'ws_1/production'
const template = (value: unknown): Template => {
  const parsed = parseTemplate(value)
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return parsed.template
}
const evaluateOne = async (value: unknown, scope: Record<string, unknown>) => {
  const [evaluated] = await expressions.evaluate({ tenant, scope, templates: [template(value)] })
  return evaluated
}
const raw = (expression: string, input: unknown = {}, bindings?: Record<string, unknown>) =>
  expressions.evaluateExpression({ tenant, expression, input, bindings })

const scope = {
  trigger: { title: 'Disk full', tags: ['a', 'b'], none: null, count: 2 },
  steps: { fetch: { output: [{ id: 7 }, { id: 8 }] } },
}

test('preserves types, concatenates texts, and returns null for missing values', async () => {
  const value = {
    plain: 1,
    title: '{{trigger.title}}',
    upper: '{{ $uppercase(trigger.title) }}',
    text: '{{trigger.title}}: {{trigger.count + 1}} {{trigger.tags}} {{trigger.none}}{{trigger.gone}}{{ 1 = 2 }}!',
    last: '{{steps.fetch.output[-1].id}}',
    ids: ['{{steps.fetch.output.id}}', '{{ $sum(steps.fetch.output.id) }}'],
    missing: '{{steps.other.output}}',
    nothing: '{{ $filter([1], function($x) { $x > 1 }) }}',
    secret: 'Bearer {{secrets.token}}',
  }
  expect(await evaluateOne(value, scope)).toEqual({
    ok: true,
    value: {
      plain: 1,
      title: 'Disk full',
      upper: 'DISK FULL',
      text: 'Disk full: 3 ["a","b"] false!',
      last: 8,
      ids: [[7, 8], 15],
      missing: null,
      nothing: null,
      secret: 'Bearer {{secrets.token}}',
    },
  })
})

test('returns numbers beyond a double as texts, with or without a child, and leaves constants unchanged', async () => {
  const exact = new ExactNumber('9007199254740993')
  const value = {
    constant: exact,
    path: '{{trigger.n}}',
    within: '{{trigger}}',
    text: 'n={{trigger.n}}',
    evaluated: ['{{ (trigger.n) }}', '{{ $type(trigger.n) }}', '{{ trigger.n & "!" }}'],
  }
  expect(await evaluateOne(value, { trigger: { n: exact, small: 2 } })).toEqual({
    ok: true,
    value: {
      constant: exact,
      path: exact.text,
      within: { n: exact.text, small: 2 },
      text: `n=${exact.text}`,
      evaluated: [exact.text, 'string', `${exact.text}!`],
    },
  })
  expect(await raw('$', { n: exact }, { n: exact })).toEqual({ ok: true, value: { n: exact.text } })
})

test.each([
  ['$sum(prices.$number())', 0.3],
  ['$sum([0.1, 0.2])', 0.3],
  ['$average([0.1, 0.2])', 0.15],
  ['$sum([1/3, 100])', 100.33333333333333],
])('calculates in decimals: %s is %d', async (expression, value) => {
  expect(await raw(expression, { prices: ['0.1', '0.2'] })).toEqual({ ok: true, value })
})

test.each([
  ['$number("1234567890123456.7891")', '1234567890123456.7891 has more digits than a number'],
  ['$number("9007199254740993")', 'has more digits'],
  ['$number($pad("1", 5000, "0"))', 'has more digits'],
  ['$sum([9007199254740992, 1])', '9007199254740993 has more digits'],
])('rejects a result that a double cannot represent exactly: %s', async (expression, message) => {
  const error = { code: 'expression_error', message: expect.stringContaining(message) }
  expect(await raw(expression)).toMatchObject({ ok: false, error })
})

test('starts no child for constants and plain paths', async () => {
  const own = createExpressions({ log })
  const templates = [template({ a: 1 }), template('{{trigger.tags[0]}}'), template('{{ trigger.title }}!')]
  const values = await own.evaluate({ tenant, scope, templates })
  expect(values.map((evaluated) => evaluated.ok && evaluated.value)).toEqual([{ a: 1 }, 'a', 'Disk full!'])
  expect(own.pids()).toEqual([])
  await own.close()
})

test('reports for each template the error and its path', async () => {
  const templates = [
    template({ a: '{{trigger.count}}', b: ['{{ 1 + trigger.title }}'] }),
    template('{{ 1 + 1 }}'),
  ]
  expect(await expressions.evaluate({ tenant, scope, templates })).toEqual([
    {
      ok: false,
      error: {
        code: 'expression_error',
        message: 'The right side of the "+" operator must evaluate to a number',
        position: 3,
        token: '+',
        path: '/b/0',
        expression: '1 + trigger.title',
      },
    },
    { ok: true, value: 2 },
  ])
})

test('reports the expression at which a child process ended', async () => {
  const bomb = '$length($pad("", 200000000, "ab"))'
  const templates = [template(['{{ 1 + 1 }}', `{{ ${bomb} }}`, '{{ 1 + 2 }}']), template('{{ 1 + 3 }}')]
  const evaluated = await expressions.evaluate({ tenant: 'ws_2/production', scope, templates })
  expect(evaluated).toMatchObject([
    { ok: false, error: { path: '/1', expression: bomb } },
    { ok: false, error: { path: '', expression: '1 + 3' } },
  ])
})

test('rejects data that refers to a secret, in one text or split across several', async () => {
  const data = {
    whole: 'x {{ secrets.a }}',
    left: '{{secr',
    right: 'ets.a}}',
    list: [{ text: '{{\nsecrets.a\n}}' }],
  }
  const refused = [
    '{{whole}}',
    '{{ whole & "" }}',
    'Re: {{whole}}',
    '{{left}}{{right}}',
    '{{list}}',
    '{ {{list}}',
  ]
  const templates = refused.map(template)
  const evaluated = await expressions.evaluate({ tenant, scope: data, templates })
  expect(evaluated.map((result) => result.ok || result.error.code)).toEqual(
    refused.map(() => 'expression_secret'),
  )
  const kept = await expressions.evaluate({ tenant, scope: data, templates, secretReferences: 'keep' })
  expect(kept.map(({ ok }) => ok)).toEqual(refused.map(() => true))
  expect(await evaluateOne('{{left}} {{secrets.b}}', data)).toEqual({
    ok: true,
    value: '{{secr {{secrets.b}}',
  })
})

test('evaluates a raw expression with bindings', async () => {
  expect(await raw('$rate * price', { price: 4 }, { rate: 2.5 })).toEqual({ ok: true, value: 10 })
  expect(await raw('missing')).toEqual({ ok: true, value: null })
  expect(await raw('$', [1, [2]])).toEqual({ ok: true, value: [1, [2]] })
  expect(await raw('1 +')).toMatchObject({ ok: false, error: { code: 'expression_syntax', position: 3 } })
  expect(await raw('$sum')).toMatchObject({ ok: false, error: { code: 'expression_error' } })
})

test('finds the references of templates, and the expressions that cannot be parsed', async () => {
  const templates = [
    template({
      a: '{{steps.fetch.output.id}}',
      b: '{{ $map(items, function($i) { $i.price * $$.trigger.rate }) }}',
    }),
    template(['{{ item.x[y > steps.a.b].(z) }}', '{{ $lookup(steps, "x") }}', '{{ (steps)."q" }}']),
    template('{{ $keys($) }}'),
    template({ 'a/b': ['{{ 1 + }}'] }),
    template('constant'),
  ]
  expect(await expressions.check({ tenant, templates })).toEqual([
    { problems: [], references: ['items', 'steps.fetch', 'trigger'] },
    { problems: [], references: ['item', 'steps'] },
    { problems: [], references: ['*'] },
    {
      problems: [
        expect.objectContaining({
          path: '/a~1b/0',
          expression: '1 +',
          code: 'expression_syntax',
          position: 3,
        }),
      ],
      references: [],
    },
    { problems: [], references: [] },
  ])
})
