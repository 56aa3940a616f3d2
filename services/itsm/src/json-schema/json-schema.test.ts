import { describe, expect, it } from '@jest/globals'
import { compile } from './compile.js'
import {
  catchDataRefusal,
  faults,
  fillDefaults,
  findRefusedPath,
  form,
  numberedProperties,
  object,
} from './json-schema.fixture.js'

const deep = (levels: number): object => (levels === 0 ? { type: 'string' } : object({ a: deep(levels - 1) }))

describe('a schema that cannot be enforced', () => {
  it.each([
    ['no regular expression', object({ a: { type: 'string', pattern: '(' } }), '/properties/a/pattern'],
    ['one that looks ahead', object({ a: { type: 'string', pattern: '^(?=a)' } }), '/properties/a/pattern'],
    ['one that refers back', object({ a: { type: 'string', pattern: '(a)\\1' } }), '/properties/a/pattern'],
    ['a pattern without a type', object({ a: { pattern: 'x' } }), '/properties/a'],
    [
      'a default of another pattern',
      object({ a: { type: 'string', pattern: '^b', default: 'a' } }),
      '/properties/a/default',
    ],
    [
      'patterns that take long to read',
      object(numberedProperties(30, (index) => ({ type: 'string', pattern: `^\\p{L}{190}${index}` }))),
      '',
    ],
    ['patterns for names', object({}, { patternProperties: { '(a+)+$': true } }), '/patternProperties'],
    ['a reference', object({ a: { $ref: '#' } }), '/properties/a/$ref'],
    ['one to elsewhere', object({ a: { $dynamicRef: 'http://10.0.0.1/' } }), '/properties/a/$dynamicRef'],
    ['definitions further in', object({ a: object({}, { $defs: {} }) }), '/properties/a/$defs'],
    ['an id', object({ a: { type: 'string', id: 'x' } }), '/properties/a/id'],
    ['no object', { type: 'string' }, '/type'],
    ['an unknown type', object({ a: { type: 'text' } }), '/properties/a/type'],
    ['no type', object({ a: { minimum: 3 } }), '/properties/a'],
    ['no schema', object({ a: 3 }), '/properties/a'],
    ['no properties', { type: 'object', properties: [] }, '/properties'],
    ['a bound that is none', object({ size: { type: 'integer', minimum: '1' } }), '/properties/size/minimum'],
    [
      'bounds without room',
      object({ size: { type: 'integer', minimum: 3, maximum: 2 } }),
      '/properties/size/minimum',
    ],
    [
      'exclusive ones without room',
      object({ size: { type: 'number', exclusiveMinimum: 3, exclusiveMaximum: 3 } }),
      '/properties/size/exclusiveMinimum',
    ],
    [
      'mixed ones without room',
      object({ size: { type: 'number', minimum: 3, exclusiveMaximum: 3 } }),
      '/properties/size/minimum',
    ],
    [
      'a choice that its type rules out',
      object({ a: { type: 'string', enum: ['a', 1] } }),
      '/properties/a/enum/1',
    ],
    [
      'a constant of another type',
      object({ a: { type: ['integer', 'null'], const: 'a' } }),
      '/properties/a/const',
    ],
    ['a negative length', object({ a: { type: 'string', maxLength: -1 } }), '/properties/a/maxLength'],
    ['a step of nothing', object({ a: { type: 'number', multipleOf: 0 } }), '/properties/a/multipleOf'],
    ['an empty choice', object({ a: { enum: [] } }), '/properties/a/enum'],
    ['a choice of objects', object({ a: { enum: [{}] } }), '/properties/a/enum'],
    ['an unknown format', object({ a: { type: 'string', format: 'regex' } }), '/properties/a/format'],
    ['a name required twice', object({ a: true }, { required: ['a', 'a'] }), '/required'],
    ['a missing name required', object({ a: true }, { required: ['a', 'b'] }), '/required/1'],
    ['a name of another object', object({}, { required: ['toString'] }), '/required/0'],
    ['a list of anything', object({ a: { type: 'array' } }), '/properties/a/items'],
    [
      'a list of lists',
      object({ a: { type: 'array', items: { type: 'array', items: {} } } }),
      '/properties/a/items',
    ],
    [
      'a default that does not fit',
      object({ a: { type: 'integer', default: 'x' } }),
      '/properties/a/default',
    ],
    [
      'one within',
      object({ a: object({ b: { type: 'integer' } }, { default: { b: 'x' } }) }),
      '/properties/a/default/b',
    ],
    [
      'one in a choice',
      object({ a: { anyOf: [{ type: 'string', default: 'x' }] } }),
      '/properties/a/anyOf/0/default',
    ],
    ['a branch without a condition', object({}, { else: { required: ['a'] } }), '/else'],
    [
      'a branch that asks for what is not declared',
      object({ a: { type: 'string' } }, { if: { required: ['a'] }, else: { required: ['a', 'b'] } }),
      '/else/required/1',
    ],
    [
      'a branch that alone declares something',
      object({}, { if: {}, else: { if: {}, else: { properties: { a: false, b: { type: 'string' } } } } }),
      '/else/else/properties/b',
    ],
    [
      'such a choice',
      object({ a: object({}, { anyOf: [{ required: ['b'] }] }) }),
      '/properties/a/anyOf/0/required/0',
    ],
    ['escaped names', object({ 'a/b~c': { contains: true } }), '/properties/a~1b~0c/contains'],
    ['32 KiB', object({ a: { enum: ['ä'.repeat(20_000)] } }), ''],
  ])('is rejected for %s', (_what, schema, place) => {
    expect(findRefusedPath(schema)).toBe(`/formSchema${place}`)
  })

  it('is distinguished from an enforceable schema', () => {
    const address = object(
      { street: { type: 'string', maxLength: 100 }, zip: { type: 'string' } },
      { required: ['zip'] },
    )
    const schema = object(
      {
        size: { type: 'integer', title: 'Size', minimum: 1, maximum: 9, default: 3 },
        kind: { enum: ['new', 'used', null] },
        extras: { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 3 },
        until: { type: ['string', 'null'], format: 'date' },
        address,
      },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', required: ['kind'] },
    )
    expect(findRefusedPath(schema)).toBeNull()
    expect(findRefusedPath(object({ a: deep(40) }))).toBeNull()
  })

  it('includes branches that require undeclared properties, unless objects are open', () => {
    const branch = { if: { required: ['a'] }, else: { required: ['b'] } }
    expect(findRefusedPath(object({}, { ...branch, additionalProperties: true }))).toBeNull()
    const attributes = { path: '/schema', form: false }
    expect(findRefusedPath(object({}, branch), attributes)).toBeNull()
    expect(findRefusedPath(object({}, { ...branch, additionalProperties: false }), attributes)).toBe(
      '/schema/else/required/0',
    )
  })

  it('includes defaults if no step fills them in', () => {
    const schema = object({ a: { type: 'integer', default: 3 } })
    expect(findRefusedPath(schema, { path: '/schema', form: false })).toBe('/schema/properties/a/default')
    expect(findRefusedPath(object({ a: { type: 'array' } }), { path: '/schema', form: false })).toBeNull()
  })
})

const faultOf = (schema: object, value: unknown) => faults(object({ a: schema }), { a: value })

describe('validation of data', () => {
  it('reports every fault with its path in the data and in the schema', () => {
    const schema = object(
      {
        size: { type: 'integer', minimum: 1 },
        address: object({ zip: { type: 'string', minLength: 5 } }, { required: ['zip', 'city'] }),
        tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1, uniqueItems: true },
      },
      { required: ['size', 'why'] },
    )
    const data = { size: 0, address: { zip: '1' }, tags: ['a', 'c', 'c'], more: true }
    expect(faults(schema, data)).toEqual([
      '/formData/why /required/1 required',
      '/formData/size /properties/size/minimum too_small',
      '/formData/address/city /properties/address/required/1 required',
      '/formData/address/zip /properties/address/properties/zip/minLength too_small',
      '/formData/tags /properties/tags/maxItems too_big',
      '/formData/tags/1 /properties/tags/items/enum invalid_value',
      '/formData/tags/2 /properties/tags/items/enum invalid_value',
      '/formData/tags /properties/tags/uniqueItems not_unique',
      '/formData/more /additionalProperties unrecognized_key',
    ])
  })

  it.each([
    [{ type: 'string', format: 'date' }, '2026-02-28', '2026-02-30'],
    [{ type: 'string', format: 'date-time' }, '2026-02-28T10:00:00+02:00', '2026-02-28'],
    [{ type: 'string', format: 'email' }, 'ada@example.com', 'ada@'],
    [{ type: 'string', format: 'uri' }, 'https://example.com/a', 'javascript:alert(1)'],
    [{ type: 'string', format: 'uri-reference' }, '../a?b=%20#c', 'java\nscript:alert(1)'],
    [{ type: 'string', format: 'uri-reference' }, '', 'javascript:alert(1)'],
    [{ type: 'string', format: 'uri-reference' }, 'https://example.com/a', 'http://['],
    [{ type: 'string', format: 'email' }, 'a@b.de', `${'a'.repeat(100_000)}@`],
    [{ type: 'string', minLength: 2, maxLength: 2 }, '🙂🙂', '🙂'],
    [{ type: 'string', pattern: '^[A-Z]{2}-\\d{4}$' }, 'AB-1234', 'AB-12345'],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, 0.35],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5, 1],
    [{ type: 'integer' }, 3, 3.5],
    [{ type: ['integer', 'null'] }, null, 'x'],
    [{ const: 'x' }, 'x', 'y'],
    [{ type: 'array', items: { type: 'boolean' } }, [true], ['true']],
    [{ type: 'object', additionalProperties: true }, { b: 1 }, []],
    [{ anyOf: [{ type: 'string' }, { type: 'integer', minimum: 3 }] }, 3, 2],
  ])('accepts matching and rejects other data: %j', (schema, fitting, not) => {
    expect(faultOf(schema, fitting)).toEqual([])
    expect(faultOf(schema, not)).toHaveLength(1)
  })

  it('applies the matching branch of a condition', () => {
    const schema = object(
      { size: { enum: ['s', 'xl'] }, why: { type: 'string' } },
      {
        // Does not mention `why`, and therefore does not forbid it.
        if: { type: 'object', properties: { size: { const: 'xl' } }, required: ['size'] },
        then: { required: ['why'] },
        else: { properties: { why: false } },
      },
    )
    expect(findRefusedPath(schema)).toBeNull()
    expect(faults(schema, { size: 'xl' })).toEqual(['/formData/why /then/required/0 required'])
    expect(faults(schema, { size: 'xl', why: 'eyes' })).toEqual([])
    expect(faults(schema, { size: 's', why: 'eyes' })).toEqual([
      '/formData/why /else/properties/why unrecognized_key',
    ])
  })

  it('lets incomplete data lack required properties, in any alternative, but enforces the rest', () => {
    const schema = object(
      { kind: { enum: ['phone', 'vm'] }, a: { type: 'string' }, b: { type: 'string' } },
      {
        required: ['kind'],
        anyOf: [{ required: ['a'] }, { required: ['b'], properties: { a: false } }],
        if: { properties: { kind: { const: 'vm' } }, required: ['kind'] },
        then: { properties: { b: false } },
      },
    )
    const partly = (value: unknown) =>
      compile(schema, form)
        .check(value, { partial: true })
        .map(({ path, code }) => [path, code])
    expect(partly({})).toEqual([])
    expect(partly({ b: 'x' })).toEqual([])
    expect(partly({ kind: 'vm', b: 'x' })).toEqual([['/b', 'unrecognized_key']])
    expect(partly({ a: 1 })).toEqual([['/a', 'invalid_type']])
    expect(faults(schema, {})).toEqual([
      '/formData/kind /required/0 required',
      '/formData /anyOf invalid_union',
    ])
  })

  it('does not accept inherited properties such as toString as data', () => {
    const schema = object({}, { required: ['toString'], additionalProperties: true })
    expect(faults(schema, {})).toEqual(['/formData/toString /required/0 required'])
    expect(faults(object({}), { constructor: 1 })).toEqual([
      '/formData/constructor /additionalProperties unrecognized_key',
    ])
  })

  it('rejects data that is too costly to check against the schema', () => {
    const anyOf = Array.from({ length: 1_000 }, (_, index) => ({ const: index }))
    const schema = object({ a: { type: 'array', items: { anyOf } } })
    const many = { a: Array.from({ length: 10_000 }, () => -1) }
    const refusal = catchDataRefusal(schema, many)
    expect(refusal).toEqual({ path: '/formData', code: 'too_costly' })
  })

  it('rejects data if matching its patterns needs too many steps in total', () => {
    const anyOf = numberedProperties(100, (index) => ({ pattern: `^(?:a?){100}b${index}` }))
    const schema = object({ a: { anyOf: Object.values(anyOf) } })
    expect(findRefusedPath(schema)).toBeNull()
    expect(faults(schema, { a: 'aab7' })).toEqual([])
    const refusal = catchDataRefusal(schema, { a: 'a'.repeat(1_000) })
    expect(refusal).toEqual({ path: '/formData', code: 'too_costly' })
  })

  it('rejects data if its checks for duplicate items are too costly in total', () => {
    const anyOf = Array.from({ length: 400 }, () => ({ type: 'array', uniqueItems: true, minItems: 9_999 }))
    const list = Array.from({ length: 6_000 }, (_, index) => index)
    const refusal = catchDataRefusal(object({ a: { anyOf } }), { a: list })
    expect(refusal).toEqual({ path: '/formData', code: 'too_costly' })
  })
})

describe('defaults of a schema', () => {
  const schema = object({
    size: { type: 'integer', default: 3 },
    note: { type: ['string', 'null'], default: null },
    address: object({ country: { type: 'string', default: 'DE' } }),
    box: object({ count: { type: 'integer', default: 1 } }, { default: {} }),
  })

  it('are filled in for missing properties, also in nested objects', () => {
    expect(fillDefaults(schema, {})).toEqual({ size: 3, note: null, box: { count: 1 } })
    expect(fillDefaults(schema, { size: 1, address: {} })).toEqual({
      size: 1,
      note: null,
      address: { country: 'DE' },
      box: { count: 1 },
    })
  })

  it('do not replace invalid values', () => {
    expect(fillDefaults(schema, 3)).toBe(3)
    expect(fillDefaults(schema, { size: 'x', note: 1, address: [], box: 2 })).toEqual({
      size: 'x',
      note: 1,
      address: [],
      box: 2,
    })
  })
})
