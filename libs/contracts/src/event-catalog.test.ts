import { expect, test } from '@jest/globals'
import * as contracts from './index.js'
import { EventPattern, eventCatalog } from './index.js'

/** What the contracts call the events of something, wherever it stands. */
const parts = Object.entries(contracts).flatMap(([name, part]) =>
  /^[a-z]\w*Events$/.test(name) ? [part] : [],
)

test('every event is in the catalogue, and no type is declared twice', () => {
  const declared = parts.flatMap((part) => (typeof part === 'object' ? Object.keys(part) : []))
  expect(declared.toSorted()).toEqual(Object.keys(eventCatalog).toSorted())
})

test.each(Object.entries(eventCatalog))(
  '%s is described, and can be subscribed to',
  (type, { description }) => {
    expect(description).toMatch(/^\S.*\.$/)
    expect(EventPattern.safeParse(type).success).toBe(true)
  },
)
