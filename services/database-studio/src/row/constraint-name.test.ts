import { expect, test } from '@jest/globals'
import { buildConstraintName } from './constraint-name.js'

const long = 'a_table_whose_name_is_as_long_as_the_names_of_tables_may_be'

test('a name contains all its parts if they fit', () => {
  expect(buildConstraintName('assets', 'serial_number', 'key')).toBe('assets_serial_number_key')
  expect(buildConstraintName('assets', 'größe', 'key')).toBe('assets_größe_key')
})

test('truncated names are distinct, and short enough that Postgres does not truncate them', () => {
  const columns = ['first_column', 'second_column', 'größe', 'größen', '数量', '数量の単位', '€'.repeat(21)]
  const names = columns.flatMap((column) =>
    ['key', 'fkey', 'enum'].map((kind) => buildConstraintName(long, column, kind)),
  )
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(59)
  expect(buildConstraintName(long, 'first_column', 'key')).toMatch(/^a_table_whose_.*_[0-9a-f]{8}_key$/)
})
