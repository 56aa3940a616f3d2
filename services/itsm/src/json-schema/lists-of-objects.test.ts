import { describe, expect, it } from '@jest/globals'
import {
  catchRefusal,
  faults,
  fillDefaults,
  findRefusedPath,
  list,
  numberedProperties,
  object,
} from './json-schema.fixture.js'

const line = object(
  {
    sku: { type: 'string', pattern: '^[A-Z]{2}-\\d+$' },
    quantity: { type: 'integer', minimum: 1, default: 1 },
    packed: object({ gift: { type: 'boolean', default: false } }, { default: {} }),
    notes: list({ type: 'string' }),
  },
  { required: ['sku'] },
)
const order = object({ lines: list(line, { minItems: 1, maxItems: 3, uniqueItems: true }) })

describe('a list of objects', () => {
  it('reports every fault with its path in the data and in the schema', () => {
    expect(findRefusedPath(order)).toBeNull()
    const lines = [{ sku: 'AB-1' }, { sku: 'AB1', quantity: 0 }, { paint: true, notes: ['a', 2] }, 7]
    expect(faults(order, { lines })).toEqual([
      '/formData/lines /properties/lines/maxItems too_big',
      '/formData/lines/1/sku /properties/lines/items/properties/sku/pattern invalid_format',
      '/formData/lines/1/quantity /properties/lines/items/properties/quantity/minimum too_small',
      '/formData/lines/2/sku /properties/lines/items/required/0 required',
      '/formData/lines/2/notes/1 /properties/lines/items/properties/notes/items/type invalid_type',
      '/formData/lines/2/paint /properties/lines/items/additionalProperties unrecognized_key',
      '/formData/lines/3 /properties/lines/items/type invalid_type',
    ])
    expect(faults(order, { lines: [] })).toEqual(['/formData/lines /properties/lines/minItems too_small'])
  })

  it('treats items with the same properties in another order as duplicates', () => {
    const lines = [
      { sku: 'AB-1', quantity: 2 },
      { quantity: 2, sku: 'AB-1' },
    ]
    expect(faults(order, { lines })).toEqual(['/formData/lines /properties/lines/uniqueItems not_unique'])
  })

  it('may lack required item properties in a draft', () => {
    expect(faults(order, { lines: [{}] }, { partial: true })).toEqual([])
    expect(faults(order, { lines: [{ quantity: 0 }] }, { partial: true })).toHaveLength(1)
  })

  it('receives the defaults of its items, and a second pass changes nothing', () => {
    const packed = { gift: false }
    const once = fillDefaults(order, {
      lines: [{ sku: 'AB-1' }, { sku: 'AB-2', quantity: 2, packed: {} }, 7],
    })
    expect(once).toEqual({
      lines: [{ sku: 'AB-1', quantity: 1, packed }, { sku: 'AB-2', quantity: 2, packed }, 7],
    })
    expect(fillDefaults(order, once)).toEqual(once)
    expect(fillDefaults(order, {})).toEqual({})
  })

  it('is rejected if its defaults become too large', () => {
    const item = object({ text: { type: 'string', default: 'x'.repeat(30_000) } })
    const many = { lines: Array.from({ length: 10_000 }, () => ({})) }
    const schema = object({ lines: list(item) })
    expect(findRefusedPath(schema)).toBeNull()
    expect(catchRefusal(() => fillDefaults(schema, many))).toEqual({ path: '/formData', code: 'too_costly' })
    const wide = object({ lines: list(object(numberedProperties(1_000, () => ({ type: 'null' })))) })
    expect(catchRefusal(() => fillDefaults(wide, many))).toEqual({ path: '/formData', code: 'too_costly' })
  })

  it.each([
    ['of several types', { type: ['object', 'null'], properties: {} }, ''],
    ['of objects or texts', { anyOf: [object({}), { type: 'string' }] }, ''],
    ['with a default that is not filled in', object({}, { default: {} }), '/default'],
    ['that require what they do not declare', object({}, { required: ['a'] }), '/required/0'],
    [
      'with properties of any name',
      object({}, { additionalProperties: { type: 'string' } }),
      '/additionalProperties',
    ],
    [
      'with a keyword that is not enforced',
      object({ a: { type: 'string', pattern: '\\1' } }),
      '/properties/a/pattern',
    ],
  ])('is rejected for items %s', (_what, items, place) => {
    expect(findRefusedPath(object({ a: list(items) }))).toBe(`/formSchema/properties/a/items${place}`)
  })
})
