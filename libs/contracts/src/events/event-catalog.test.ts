import { expect, test } from '@jest/globals'
import * as contracts from '../index.js'
import { type EventCatalog, EventPattern, eventCatalog } from '../index.js'

/** All event types declared by any export of the contracts. */
const declared = Object.entries(contracts).flatMap(([name, part]) =>
  /^[a-z]\w*Events$/.test(name) && typeof part === 'object' ? Object.entries(part) : [],
)

test('every declared event is in the catalogue, and no type is declared twice', () => {
  const catalog: EventCatalog = eventCatalog
  expect(new Set(declared.map(([type]) => type))).toEqual(new Set(Object.keys(catalog)))
  // If a type is declared twice, the catalogue contains only the last declaration.
  expect(declared.filter(([type, definition]) => catalog[type] !== definition)).toEqual([])
})

test.each(Object.entries(eventCatalog))(
  '%s has a description and can be subscribed to',
  (type, { description }) => {
    expect(description).toMatch(/^\S.*\.$/)
    expect(EventPattern.safeParse(type).success).toBe(true)
  },
)
