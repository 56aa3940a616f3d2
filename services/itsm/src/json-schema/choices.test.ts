import { describe, expect, it } from '@jest/globals'
import type { JsonSchema } from '@opsplane/json-schema'
import { faults, findRefusedPath, object } from './json-schema.fixture.js'

const reported = (schema: JsonSchema, value: unknown) => faults(object({ a: schema }), { a: value })

describe('choices (oneOf, anyOf, allOf, not)', () => {
  it.each<[string, JsonSchema, unknown, unknown, string]>([
    ['none of one', { oneOf: [{ type: 'string' }, { type: 'integer' }] }, 1, null, '/oneOf invalid_union'],
    [
      'more than one of one',
      { oneOf: [{ type: 'integer' }, { type: 'number', maximum: 3 }] },
      1.5,
      2,
      '/oneOf invalid_union',
    ],
    [
      'one of all',
      { allOf: [{ type: 'integer' }, { multipleOf: 3 }] },
      3,
      4,
      '/allOf/1/multipleOf not_multiple_of',
    ],
    ['what is ruled out', { type: 'string', not: { pattern: '^x' } }, 'ax', 'xa', '/not invalid_value'],
  ])('report a violation: %s', (_what, schema, fitting, not, place) => {
    expect(findRefusedPath(object({ a: schema }))).toBeNull()
    expect(reported(schema, fitting)).toEqual([])
    expect(reported(schema, not)).toEqual([`/formData/a /properties/a${place}`])
  })

  it('report the faults of the intended alternative if it is identifiable', () => {
    const alternative = (kind: string, name: string) => ({
      properties: { kind: { const: kind }, [name]: { minLength: 1 } },
      required: [name],
    })
    const properties = { kind: { type: 'string' }, room: { type: 'string' }, zip: { type: 'string' } }
    for (const keyword of ['oneOf', 'anyOf']) {
      const schema = object(properties, {
        [keyword]: [alternative('office', 'room'), alternative('home', 'zip')],
      })
      expect(faults(schema, { kind: 'home' })).toEqual([`/formData/zip /${keyword}/1/required/0 required`])
      const office = faults(schema, { kind: 'office', room: '', zip: '' })
      expect(office).toEqual([`/formData/room /${keyword}/0/properties/room/minLength too_small`])
      for (const value of [{}, { kind: 'moon' }, { kind: 'moon', zip: '' }])
        expect(faults(schema, value)).toEqual([`/formData /${keyword} invalid_union`])
    }
    const size = {
      anyOf: [
        { type: 'string', pattern: '^x' },
        { type: 'integer', minimum: 3 },
      ],
    }
    expect(reported(size, 2)).toEqual(['/formData/a /properties/a/anyOf/1/minimum too_small'])
    expect(reported(size, 'y')).toEqual(['/formData/a /properties/a/anyOf/0/pattern invalid_format'])
  })

  const text = { type: 'string' }
  const paid = object(
    { card: text, iban: text, name: text, reference: text },
    {
      oneOf: [{ required: ['card'] }, { required: ['iban'] }],
      dependentRequired: { card: ['name'], iban: ['name', 'reference'] },
      not: { properties: { name: { const: 'none' } }, required: ['name'] },
    },
  )

  it('apply to the surrounding object, as does dependentRequired', () => {
    expect(findRefusedPath(paid)).toBeNull()
    expect(faults(paid, { iban: 'DE02', name: 'Ada', reference: 'INV-1' })).toEqual([])
    expect(faults(paid, { card: '1', iban: 'DE02', name: 'none' })).toEqual([
      '/formData/reference /dependentRequired/iban/1 required',
      '/formData /not invalid_value',
      '/formData /oneOf invalid_union',
    ])
  })

  it('ignore properties that a draft still lacks', () => {
    const draft = { partial: true }
    expect(faults(paid, {}, draft)).toEqual([])
    expect(faults(paid, { iban: 'DE02', name: 'none' }, draft)).toEqual([])
    const size = object({ size: { oneOf: [{ type: 'integer' }, { multipleOf: 2 }], not: { const: 7 } } })
    expect(faults(size, { size: 2 }, draft)).toEqual(['/formData/size /properties/size/oneOf invalid_union'])
    expect(faults(size, { size: 7 }, draft)).toEqual(['/formData/size /properties/size/not invalid_value'])
  })

  it.each([
    ['an alternative that is none', object({}, { oneOf: [3] }), '/oneOf/0'],
    ['no alternative', object({}, { allOf: [] }), '/allOf'],
    ['no schema', object({}, { not: 'x' }), '/not'],
    ['an unsupported keyword', object({}, { not: { contains: true } }), '/not/contains'],
    ['a name that is not declared', object({}, { oneOf: [{ required: ['a'] }] }), '/oneOf/0/required/0'],
    ['such a property', object({}, { allOf: [{ properties: { a: true } }] }), '/allOf/0/properties/a'],
    ['one that is ruled out', object({}, { not: { required: ['a'] } }), '/not/required/0'],
    ['one that requires others', object({}, { dependentRequired: { a: [] } }), '/dependentRequired/a'],
    [
      'one that is required of it',
      object({ a: true }, { anyOf: [{ dependentRequired: { a: ['a', 'b'] } }] }),
      '/anyOf/0/dependentRequired/a/1',
    ],
    ['a name twice', object({ a: true }, { dependentRequired: { a: ['a', 'a'] } }), '/dependentRequired'],
    ['a list in place of names', object({ a: true }, { dependentRequired: ['a'] }), '/dependentRequired'],
    ['what is ruled out alone', object({ a: { not: { type: 'null' } } }), '/properties/a'],
    [
      'a default in them',
      object({ a: { oneOf: [{ type: 'string', default: 'x' }] } }),
      '/properties/a/oneOf/0/default',
    ],
  ])('are rejected for %s', (_what, schema, place) => {
    expect(findRefusedPath(schema)).toBe(`/formSchema${place}`)
  })
})
