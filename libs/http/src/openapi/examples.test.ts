import { expect, test } from '@jest/globals'
import { createExamples } from './examples.js'

const schemas = {
  Id: { type: 'string', pattern: '^inc_[0-9A-HJKMNP-TV-Z]{26}$' },
  Step: { oneOf: [{ $ref: '#/components/schemas/StepEach' }, { $ref: '#/components/schemas/StepStop' }] },
  StepEach: {
    type: 'object',
    properties: { steps: { type: 'array', items: { $ref: '#/components/schemas/Step' }, minItems: 1 } },
    required: ['steps'],
  },
  StepStop: { type: 'object', properties: { type: { type: 'string', enum: ['stop'] } }, required: ['type'] },
}
const exampleOf = createExamples(schemas)

test.each([
  ['an example that is there', { type: 'string', example: 'Ada' }, 'Ada'],
  ['the first of an enum', { type: 'string', enum: ['low', 'high'] }, 'low'],
  ['a fixed instant', { type: 'string', format: 'date-time' }, '2026-01-15T09:30:00.000Z'],
  ['an id of its pattern', { $ref: '#/components/schemas/Id' }, 'inc_01JHMZ5Q8R3V7W9XABCDEFGHJK'],
  ['what comes before null', { anyOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }] }, 3],
  ['a positive number', { type: 'integer', exclusiveMinimum: 0 }, 1],
  ['a text that is long enough', { type: 'string', minLength: 9 }, 'exampleee'],
  ['a list', { type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
  [
    'required properties, and others with an example',
    {
      type: 'object',
      properties: { a: { type: 'null' }, b: { type: 'string' }, c: { type: 'string', example: 'c' } },
      required: ['a'],
    },
    { a: null, c: 'c' },
  ],
  ['what contains itself, once', { $ref: '#/components/schemas/Step' }, { steps: [{ type: 'stop' }] }],
])('an example is %s', (_, schema, example) => {
  expect(exampleOf(schema)).toEqual(example)
})
