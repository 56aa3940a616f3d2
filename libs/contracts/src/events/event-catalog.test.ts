import { expect, test } from '@jest/globals'
import * as contracts from '../index.js'
import { type EventCatalog, EventPattern, eventCatalog } from '../index.js'

/** What the contracts call the events of something, wherever it stands. */
const declared = Object.entries(contracts).flatMap(([name, part]) =>
  /^[a-z]\w*Events$/.test(name) && typeof part === 'object' ? Object.entries(part) : [],
)

test('every event is in the catalogue, and no type is declared twice', () => {
  const catalog: EventCatalog = eventCatalog
  expect(new Set(declared.map(([type]) => type))).toEqual(new Set(Object.keys(catalog)))
  // Of two declarations of one type the catalogue holds the last.
  expect(declared.filter(([type, definition]) => catalog[type] !== definition)).toEqual([])
})

test.each(Object.entries(eventCatalog))(
  '%s is described, and can be subscribed to',
  (type, { description }) => {
    expect(description).toMatch(/^\S.*\.$/)
    expect(EventPattern.safeParse(type).success).toBe(true)
  },
)
