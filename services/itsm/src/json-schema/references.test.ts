import { describe, expect, it } from '@jest/globals'
import {
  catchDataRefusal,
  faults,
  fillDefaults,
  findRefusedPath,
  list,
  object,
} from './json-schema.fixture.js'

const address = object(
  { zip: { type: 'string' }, country: { type: 'string', default: 'DE' } },
  { required: ['zip'] },
)
const to = (name: string, siblings: object = {}) => ({ $ref: `#/$defs/${name}`, ...siblings })
const reference = (name: string) => object({ a: to(name) })

describe('a reference to a definition', () => {
  const schema = object(
    {
      from: to('address', { title: 'From', default: { zip: '10115' } }),
      stops: list(to('stop')),
    },
    {
      $defs: {
        address,
        stop: to('address', { description: 'On the way.' }),
        abroad: { properties: { country: { type: 'string', not: { const: 'DE' } } }, required: ['country'] },
      },
      if: { properties: { from: to('abroad') } },
      else: { properties: { stops: { maxItems: 1 } } },
    },
  )

  it('applies the definition, and faults contain the path in the definition', () => {
    expect(findRefusedPath(schema)).toBeNull()
    expect(faults(schema, { from: { zip: 1 }, stops: [{ zip: '1' }, { city: 'x' }] })).toEqual([
      '/formData/from/zip /$defs/address/properties/zip/type invalid_type',
      '/formData/stops/1/zip /$defs/address/required/0 required',
      '/formData/stops/1/city /$defs/address/additionalProperties unrecognized_key',
      '/formData/stops /else/properties/stops/maxItems too_big',
    ])
    expect(
      faults(schema, { from: { zip: '1', country: 'FR' }, stops: [{ zip: '1' }, { zip: '2' }] }),
    ).toEqual([])
  })

  it('with a null default does not use the default of the definition', () => {
    const schema = object(
      { a: to('b', { default: null }) },
      { $defs: { b: { type: ['string', 'null'], default: 'x' } } },
    )
    expect(fillDefaults(schema, {})).toEqual({ a: null })
  })

  it('uses the defaults of the definition, unless its sibling keywords override them', () => {
    const country = 'DE'
    expect(fillDefaults(schema, { stops: [{ zip: '1' }] })).toEqual({
      from: { zip: '10115', country },
      stops: [{ zip: '1', country }],
    })
  })

  it.each([
    ['to the whole', object({ a: { $ref: '#' } }), '/properties/a/$ref'],
    ['to a part', object({ a: true, b: { $ref: '#/properties/a' } }), '/properties/b/$ref'],
    ['to elsewhere', object({ a: { $ref: 'http://10.0.0.1/' } }), '/properties/a/$ref'],
    ['to nothing', { ...reference('b'), $defs: { c: true } }, '/properties/a/$ref'],
    ['to what every object has', { ...reference('toString'), $defs: {} }, '/properties/a/$ref'],
    [
      'with a sibling bound',
      { ...object({ a: to('b', { minimum: 1 }) }), $defs: { b: true } },
      '/properties/a/minimum',
    ],
    [
      'to itself',
      { ...reference('b'), $defs: { b: object({ c: list(to('b')) }) } },
      '/$defs/b/properties/c/items/$ref',
    ],
    ['in a circle', { ...reference('b'), $defs: { b: to('c'), c: to('b') } }, '/$defs/c/$ref'],
    ['in an unused circle', { ...object({}), $defs: { b: { not: to('b') } } }, '/$defs/b/not/$ref'],
    ['to what is not enforced', { ...reference('b'), $defs: { b: { type: 'text' } } }, '/$defs/b/type'],
    ['with an unknown type', { ...object({}), $defs: { b: { type: 'text' } } }, '/$defs/b/type'],
    ['to something of no type', { ...reference('b'), $defs: { b: { minimum: 1 } } }, '/$defs/b'],
    [
      'to lists of lists',
      { ...object({ a: list(to('b')) }), $defs: { b: list({ type: 'null' }) } },
      '/properties/a/items',
    ],
    [
      'to a condition that tells of what is not declared',
      { ...object({}, { anyOf: [to('b')] }), $defs: { b: { required: ['c'] } } },
      '/$defs/b/required/0',
    ],
    [
      'with a default that does not fit',
      { ...object({ a: to('b', { default: 1 }) }), $defs: { b: { type: 'null' } } },
      '/properties/a/default',
    ],
    [
      'with a default in a choice',
      { ...object({ a: { anyOf: [to('b', { default: 1 })] } }), $defs: { b: true } },
      '/properties/a/anyOf/0/default',
    ],
  ])('%s is rejected', (_what, schema, place) => {
    expect(findRefusedPath(schema)).toBe(`/formSchema${place}`)
  })

  /** Each definition contains the previous one several times. */
  const tower = (height: number, holding: (name: string) => object, bottom: object = { type: 'null' }) => ({
    ...reference(`d${height}`),
    $defs: Object.fromEntries(
      Array.from({ length: height + 1 }, (_, level) => [
        `d${level}`,
        level === 0 ? bottom : holding(`d${level - 1}`),
      ]),
    ),
  })

  it('is rejected if it expands exponentially or nests too deeply', () => {
    const doubling = tower(30, (name) => ({ anyOf: [to(name), to(name)] }))
    expect(findRefusedPath(doubling)).toBe('/formSchema')
    const nesting = tower(60, (name) => ({ anyOf: [{ not: to(name) }] }), { properties: {} })
    expect(findRefusedPath(nesting)).toMatch(/^\/formSchema\/\$defs\/d\d+/)
  })

  it('adds the cost of the definition to the cost of checking data', () => {
    const doubling = tower(10, (name) => ({ anyOf: [to(name), to(name)] }))
    expect(findRefusedPath(doubling)).toBeNull()
    const schema = { ...doubling, properties: { a: list(to('d10')) } }
    const many = { a: Array.from({ length: 1_000 }, () => 1) }
    expect(catchDataRefusal(schema, many)).toEqual({
      path: '/formData',
      code: 'too_costly',
    })
  })
})
