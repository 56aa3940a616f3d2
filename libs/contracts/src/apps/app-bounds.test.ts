import { expect, test } from '@jest/globals'
import { pageBounds } from '../core/page-bounds.js'
import { recordListBounds } from '../studio/record-list-bounds.js'
import { PageInput } from './app-components.js'
import { appBounds } from './app-names.js'
import { AppActionRequest, AppDataRequest } from './app-runtime.js'
import { DataSourceInput, SourceBinding } from './app-sources.js'

const tableSource = (binding: object) => ({
  name: 'assets',
  binding: { kind: 'table', table: 'assets', ...binding },
})
const names = (count: number, length = 5) =>
  Array.from({ length: count }, (_, index) => `c${index}`.padEnd(length, '_'))
const conditions = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${from + index}`, 1]))
const { conditions: most, filter: characters } = recordListBounds
const filterOf = (length: number) => ({ a: { in: Array(8).fill('x'.repeat(900)), ne: 'y'.repeat(length) } })
const left = characters - JSON.stringify([filterOf(0), {}]).length

/** The largest accepted value of each bound, and the smallest one above it. */
test.each<[string, object, object]>([
  ['rows', { limit: pageBounds.items }, { limit: pageBounds.items + 1 }],
  ['columns to sort by', { sort: '-a,b,c,d' }, { sort: 'a,b,c,d,e' }],
  ['a column to sort by', { sort: 'a,b' }, { sort: 'a,-a' }],
  ['names to sort by', { sort: '-a' }, { sort: 'a, b' }],
  ['columns to read', { fields: names(30, 60) }, { fields: names(40, 60) }],
  ['conditions', { filter: conditions(0, most) }, { filter: conditions(0, most), search: { g: 1 } }],
  [
    'conditions of which some clash',
    { filter: conditions(0, 20), search: conditions(20, 30) },
    { filter: conditions(0, 20), search: conditions(19, 30) },
  ],
  ['characters of a filter', { filter: filterOf(left) }, { filter: filterOf(left + 1) }],
])(
  'accepts the largest allowed value and rejects the smallest value above it: %s',
  (_what, largest, beyond) => {
    expect(DataSourceInput.safeParse(tableSource(largest)).success).toBe(true)
    expect(DataSourceInput.safeParse(tableSource(beyond)).success).toBe(false)
  },
)

test('parses stored bindings that exceed the current bounds', () => {
  const kept = {
    limit: 500,
    sort: 'a,b,c,d,e',
    fields: names(40, 60),
    filter: conditions(0, 50),
    search: { g: 1 },
  }
  expect(SourceBinding.safeParse(tableSource(kept).binding).success).toBe(true)
})

/** A name of the maximum length is accepted both where it is declared and where it is referenced. */
test.each([
  ['declared', (name: string) => DataSourceInput.safeParse({ ...tableSource({}), name })],
  [
    'a parameter',
    (name: string) => DataSourceInput.safeParse({ ...tableSource({}), params: { [name]: { type: 'text' } } }),
  ],
  ['read', (source: string) => AppDataRequest.safeParse({ requests: [{ key: 'k', source }] })],
  ['used', (source: string) => AppActionRequest.safeParse({ source })],
  [
    'shown',
    (source: string) =>
      PageInput.safeParse({
        ...{ slug: 'p', title: 'P' },
        components: [{ type: 'table', label: 'T', source, columns: [{ field: 'a' }] }],
      }),
  ],
  [
    'an input',
    (id: string) =>
      PageInput.safeParse({ slug: 'p', title: 'P', components: [{ type: 'text_input', id, label: 'I' }] }),
  ],
])('the maximum length of a name is the same where it is %s', (_what, parse) => {
  expect(parse('n'.repeat(appBounds.name)).success).toBe(true)
  expect(parse('n'.repeat(appBounds.name + 1)).success).toBe(false)
})
