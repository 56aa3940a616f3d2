import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { eventCatalog, eventExample, eventJsonSchema, eventSchema, eventTypes, parseEvent } from '../index.js'

// Each schema validates only a few events: optimizing the generated code would take longer than it saves.
const options = { allErrors: true, allowUnionTypes: true, code: { optimize: false } }
const validators = [
  ['draft-2020-12', new Ajv2020(options)],
  ['draft-7', new Ajv(options)],
] as const
for (const [, ajv] of validators) formats.default(ajv)

// Both drafts are generated from one schema, so every fourth type is enough to reveal faults of the older draft alone.
const isLong = process.env.SEARCH_TIMES !== undefined
const triedWith = (target: string) =>
  eventTypes.filter((_, at) => isLong || target === 'draft-2020-12' || at % 4 === 0)

describe.each(validators)('the %s schemas of the event catalogue', (target, ajv) => {
  test.each(triedWith(target))('%s compiles, accepts its example and rejects invalid variants', (type) => {
    const validate = ajv.compile(eventJsonSchema(type, target))
    const example = eventExample(type)
    validate(example)
    expect(validate.errors ?? []).toEqual([])
    expect(eventSchema(type).parse(example)).toEqual(example)
    expect(validate({ ...example, type: 'other.type' })).toBe(false)
    expect(validate({ ...example, data: { ...example.data, after: { id: 7 } } })).toBe(false)
    expect(validate({ ...example, version: 0 })).toBe(false)
  })

  test('accept fields that are added later', () => {
    const example = eventExample('incident.created')
    const later = { ...example.data.after, tomorrow: 1 }
    const validate = ajv.compile(eventJsonSchema('incident.created', target))
    expect(validate({ ...example, data: { ...example.data, after: later } })).toBe(true)
  })
})

test('eventTypes lists every declared type once, sorted by name', () => {
  expect(eventTypes).toEqual(Object.keys(eventCatalog).sort())
})

test('parseEvent returns an event with the data of its type, and null for an unknown type', () => {
  const event = parseEvent(eventExample('incident.escalated'))
  expect(event?.type === 'incident.escalated' && event.data.causes).toEqual(['severity_raised'])
  expect(parseEvent({ ...eventExample('incident.created'), type: 'incident.beamed_up' })).toBeNull()
  expect(() => parseEvent({ ...eventExample('incident.created'), data: {} })).toThrow()
  expect(() => parseEvent('text')).toThrow()
})
