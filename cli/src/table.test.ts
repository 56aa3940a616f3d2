import { expect, test } from '@jest/globals'
import { type Column, oneLine, renderTable } from './table.js'

interface Row {
  id: string
  name: string
  size: number | null
}

const columns: Column<Row>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, elastic: true },
  { title: 'size', value: ({ size }) => size },
]
const rows: Row[] = [
  { id: 'wh_1', name: 'pager of the night shift', size: 1 },
  { id: 'wh_22', name: 'log', size: null },
]

test('aligns columns and prints a dash for a missing value', () => {
  expect(renderTable(columns, rows)).toBe(
    [
      'ID     NAME                      SIZE',
      'wh_1   pager of the night shift  1',
      'wh_22  log                       -',
      '',
    ].join('\n'),
  )
})

test('a narrow terminal truncates elastic columns, but never ids', () => {
  const lines = renderTable(columns, rows, 25).split('\n')
  expect(lines[1]).toBe('wh_1   pager of th…  1')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(25)
  expect(renderTable(columns, rows, 5)).toContain('wh_22')
})

test('escapes control characters in untrusted text', () => {
  expect(oneLine('a\u001b[2Jb\nc\u202ed')).toBe('a\\u001b[2Jb\\nc\\u202ed')
  expect(renderTable(columns, [{ id: 'x', name: '\u009b31m', size: 0 }])).not.toContain('\u009b')
})

test('truncates a line by characters, not by UTF-16 code units', () => {
  expect(oneLine('🙂🙂🙂🙂', 3)).toBe('🙂🙂…')
})
