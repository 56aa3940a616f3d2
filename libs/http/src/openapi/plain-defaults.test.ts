import { expect, test } from '@jest/globals'
import { withPlainDefaults } from './plain-defaults.js'

test.each<[string, object]>([
  ['a text', { type: 'string', default: 'low' }],
  ['a number', { type: ['integer', 'null'], default: 0 }],
  ['a boolean', { type: 'boolean', default: false }],
  ['a property of that name', { type: 'object', properties: { default: { type: 'array', items: {} } } }],
  ['an example', { type: 'object', example: { default: [], properties: { default: null } } }],
])('keeps the schema unchanged: %s', (_, schema) => {
  expect(withPlainDefaults(schema)).toEqual(schema)
})

test.each<[string, object, object]>([
  ['an empty array', { type: 'array', default: [] }, { type: 'array' }],
  ['an empty object', { type: 'object', default: {} }, { type: 'object' }],
  ['null', { type: ['string', 'null'], default: null }, { type: ['string', 'null'] }],
  [
    'an array',
    { type: 'array', default: [50], description: 'Percent.' },
    { type: 'array', description: 'Percent. Unless given: `[50]`.' },
  ],
  [
    'a text at a choice of schemas',
    { anyOf: [{ type: 'string' }], default: 'first' },
    { anyOf: [{ type: 'string' }], description: 'Unless given: `"first"`.' },
  ],
])('moves the default to the description or omits it: %s', (_, schema, expected) => {
  expect(withPlainDefaults(schema)).toEqual(expected)
  expect(withPlainDefaults({ properties: { default: schema } })).toEqual({
    properties: { default: expected },
  })
  expect(withPlainDefaults([{ anyOf: [schema] }])).toEqual([{ anyOf: [expected] }])
})
