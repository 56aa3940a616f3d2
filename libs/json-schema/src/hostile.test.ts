import { describe, expect, it } from '@jest/globals'
import { ExactNumber, inexactNumber } from '@opsplane/contracts'
import { TooCostlyError } from './budget.js'
import {
  compileValid,
  list,
  listFaults,
  listProblems,
  nestedSchemas,
  numberedProperties,
  object,
  referTo,
  summarizeFaults,
} from './compile.fixture.js'

const many = (count: number) => Array.from({ length: count }, (_, index) => index)
const nested = (levels: number, inner: unknown, wrap: (inner: unknown) => unknown): unknown => {
  let value = inner
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}
const codes = (schema: unknown, value: unknown) =>
  compileValid(schema, { reading: 'lenient' })
    .check(value)
    .map(({ code }) => code)

it('rejects numbers that a double would change, at any position and for any schema', () => {
  const exact = new ExactNumber('9007199254740993')
  for (const schema of [{}, object({ n: { type: 'number' } }), object({ n: { type: 'object' } })])
    expect(compileValid(schema, { reading: 'lenient' }).check({ n: exact })).toMatchObject([
      { path: '/n', code: 'invalid_type', message: inexactNumber },
    ])
})

describe('an excessively costly schema', () => {
  it.each<[string, unknown, string]>([
    [
      'doubles itself by allOf',
      nestedSchemas(30, (name) => ({ allOf: [referTo(name), referTo(name)] })),
      ' too_costly',
    ],
    [
      'doubles itself by anyOf',
      nestedSchemas(30, (name) => ({ anyOf: [referTo(name), referTo(name)] })),
      ' too_costly',
    ],
    [
      'doubles itself by oneOf',
      nestedSchemas(30, (name) => ({ oneOf: [referTo(name), referTo(name)] })),
      ' too_costly',
    ],
    [
      'doubles itself by conditions',
      nestedSchemas(30, (name) => ({ if: referTo(name), else: referTo(name) })),
      ' too_costly',
    ],
    [
      'doubles itself by dependent schemas',
      nestedSchemas(30, (name) => ({ dependentSchemas: { a: referTo(name), b: referTo(name) } })),
      ' too_costly',
    ],
    ['leads back to itself', { $ref: '#' }, '/$ref endless_reference'],
    [
      'leads back by way of others',
      { $defs: { a: referTo('b'), b: { allOf: [referTo('c')] }, c: { not: referTo('a') } } },
      '/$defs/c/not/$ref endless_reference',
    ],
    ['is nested deeply', nested(150, {}, (not) => ({ not })), `${'/not'.repeat(101)} too_deep`],
    ['is nested very deeply', nested(50_000, {}, (not) => ({ not })), `${'/not'.repeat(200)} too_deep`],
    ['has a long chain of references', nestedSchemas(150, (name) => referTo(name)), '/$defs/d50 too_deep'],
    ['is large', { enum: ['x'.repeat(70_000)] }, ' too_big'],
    ['has a huge enum', { enum: many(30_000) }, ' too_big'],
    ['has many subschemas', object(numberedProperties(2_500, () => ({}))), ' too_big'],
    [
      'has a pattern that backtracks and looks ahead',
      { type: 'string', pattern: '^(?=(a+)+$)' },
      '/pattern invalid_schema',
    ],
    [
      'has patterns that are long to read',
      object(numberedProperties(30, () => ({ type: 'string', pattern: '\\p{L}{190}' }))),
      '',
    ],
    [
      'has many such patterns',
      object(numberedProperties(30, (index) => ({ type: 'string', pattern: `^\\p{L}{190}${index}` }))),
      ' too_costly',
    ],
    ['is no JSON', { enum: [1n] }, '/enum/0 invalid_type'],
  ])('is rejected if it %s', (_what, schema, problem) => {
    expect(summarizeFaults(listProblems(schema)).slice(0, 1)).toEqual(problem === '' ? [] : [problem])
  })
})

describe('an excessively costly check', () => {
  const anyOf = many(1_000).map((index) => ({ const: index }))
  it.each<[string, unknown, unknown]>([
    ['alternatives multiply with items', list({ anyOf }), many(10_000).map(() => -1)],
    [
      'references do',
      {
        ...list(referTo('d10')),
        $defs: nestedSchemas(10, (name) => ({ anyOf: [referTo(name), referTo(name)] })).$defs,
      },
      many(1_000),
    ],
    ['choices do', list({ enum: many(6_000) }), many(1_000).map(() => -1)],
    ['long choices do', list({ const: 'x'.repeat(60_000) }), many(1_000)],
    [
      'objects are compared with objects',
      list({ const: numberedProperties(3_000, () => ({})) }),
      many(1_000).map(() => numberedProperties(3_000, () => ({}))),
    ],
    [
      'patterns do',
      { anyOf: many(100).map((index) => ({ pattern: `^(?:a?){100}b${index}` })) },
      'a'.repeat(1_000),
    ],
    [
      'patterns are tried on names',
      { patternProperties: { '^(?:a?){300}$': {} } },
      { ['a'.repeat(3_000)]: 1 },
    ],
    [
      'items are compared time and again',
      { anyOf: many(500).map(() => ({ uniqueItems: true, minItems: 9_999 })) },
      many(6_000),
    ],
    [
      'properties are left unevaluated',
      { allOf: many(400).map(() => ({ unevaluatedProperties: {} })) },
      numberedProperties(1_000, () => ({})),
    ],
    [
      'items are looked for',
      { allOf: many(400).map((index) => ({ contains: { const: index } })) },
      many(1_000),
    ],
    [
      'names are',
      { allOf: many(400).map(() => ({ propertyNames: { maxLength: 9 } })) },
      numberedProperties(1_000, () => ({})),
    ],
    ['the value is huge', {}, many(1_000_000)],
    ['long texts are measured', { allOf: many(400).map(() => ({ maxLength: 1 })) }, 'x'.repeat(1_000_000)],
    [
      'value and references go down together',
      {
        ...referTo('d40'),
        $defs: nestedSchemas(40, (name) => ({ allOf: [referTo(name)] }), { items: referTo('d40') }).$defs,
      },
      nested(100, [], (inner) => [inner]),
    ],
  ])('is aborted where %s', (_what, schema, value) => {
    expect(codes(schema, value)).toEqual(['too_costly'])
  })

  it('completes if its cost is below the limit', () => {
    const tree = { ...referTo('tree'), $defs: { tree: object({ children: list(referTo('tree')) }) } }
    expect(
      listFaults(
        tree,
        nested(90, {}, (inner) => ({ children: [inner] })),
      ),
    ).toEqual([])
    expect(listFaults(list({}, { uniqueItems: true }), many(10_000))).toEqual([])
    expect(listFaults(list({}, { uniqueItems: true }), [...many(10_000), 0])).toEqual([
      ' /uniqueItems not_unique',
    ])
    const backtracking = { type: 'string', pattern: '^(a+)+$' }
    expect(listFaults(backtracking, `${'a'.repeat(30_000)}b`)).toEqual([' /pattern invalid_format'])
  })

  it('reports a value that is nested too deeply or is not JSON', () => {
    expect(
      codes(
        {},
        nested(100_000, [], (inner) => [inner]),
      ),
    ).toEqual(['too_deep'])
    expect(codes({}, { a: [undefined] })).toEqual(['invalid_type'])
    expect(codes({}, [new Date(0)])).toEqual(['invalid_type'])
    expect(codes({}, Number.NaN)).toEqual(['invalid_type'])
  })

  it('reports at most 100 faults', () => {
    expect(listFaults(list({ type: 'string' }), many(5_000))).toHaveLength(100)
    expect(listProblems(object(numberedProperties(500, () => ({ type: 'x' }))))).toHaveLength(100)
  })

  it('is aborted if defaults multiply', () => {
    const item = object({ text: { type: 'string', default: 'x'.repeat(30_000) } })
    const rows = many(10_000).map(() => ({}))
    expect(() => compileValid(list(item)).withDefaults(rows)).toThrow(TooCostlyError)
    const wide = list(object(numberedProperties(1_000, () => ({ type: 'null' }))))
    expect(() => compileValid(wide).withDefaults(rows)).toThrow(TooCostlyError)
  })
})

describe('property names that every object inherits', () => {
  const named = (text: string): unknown => JSON.parse(text)

  it('are validated like other properties', () => {
    expect(listFaults({ required: ['toString', '__proto__'] }, {})).toEqual([
      '/toString /required/0 required',
      '/__proto__ /required/1 required',
    ])
    expect(
      listFaults(object({}, { additionalProperties: false }), named('{"__proto__":1,"constructor":2}')),
    ).toEqual([
      '/__proto__ /additionalProperties unrecognized_key',
      '/constructor /additionalProperties unrecognized_key',
    ])
    const schema = named('{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"null"}}}')
    expect(listFaults(schema, named('{"__proto__":1,"constructor":2}'))).toEqual([
      '/__proto__ /properties/__proto__/type invalid_type',
      '/constructor /properties/constructor/type invalid_type',
    ])
    expect(listFaults(schema, {})).toEqual([])
  })

  it('are filled in as own properties, and change no other object', () => {
    const schema = named('{"properties":{"__proto__":{"default":{"polluted":true}}}}')
    const filled = compileValid(schema).withDefaults({})
    expect(Object.keys(filled as object)).toEqual(['__proto__'])
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"polluted":true}}')
    expect({}).not.toHaveProperty('polluted')
  })

  it('are neither definitions nor keywords', () => {
    expect(summarizeFaults(listProblems({ $ref: '#/$defs/toString' }))).toEqual(['/$ref invalid_reference'])
    expect(summarizeFaults(listProblems(named('{"__proto__":{"type":"string"}}')))).toEqual([
      '/__proto__ invalid_schema',
    ])
    expect(summarizeFaults(listProblems({ toString: 1, type: 'constructor' }))).toEqual([
      '/toString invalid_schema',
      '/type invalid_schema',
    ])
  })

  it('do not affect the path of a name with a lone surrogate', () => {
    expect(listFaults(object({}, { additionalProperties: { type: 'null' } }), { '\ud800/~': 1 })).toEqual([
      '/\ud800~1~0 /additionalProperties/type invalid_type',
    ])
  })
})
