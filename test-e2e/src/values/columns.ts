export interface Column {
  name: string
  type: string
  [setting: string]: unknown
}

/** Types that a list may contain. */
const itemTypes = [
  ...['text', 'integer', 'bigint', 'decimal', 'float', 'boolean', 'date', 'time', 'timestamp'],
  ...['local_timestamp', 'interval', 'uuid'],
]

/** A column of each type; `tag` identifies the records of a test. */
export const columns: readonly Column[] = [
  { name: 'tag', type: 'text', unique: true },
  { name: 'name', type: 'text' },
  { name: 'code', type: 'text', maxLength: 5 },
  { name: 'quantity', type: 'integer' },
  { name: 'counter', type: 'bigint' },
  { name: 'price', type: 'decimal', precision: 20, scale: 4 },
  { name: 'amount', type: 'decimal' },
  { name: 'ratio', type: 'float' },
  { name: 'extra', type: 'json' },
  { name: 'active', type: 'boolean' },
  { name: 'day', type: 'date' },
  { name: 'opens', type: 'time' },
  { name: 'seen_at', type: 'timestamp' },
  { name: 'local_at', type: 'local_timestamp' },
  { name: 'lasts', type: 'interval' },
  { name: 'item', type: 'uuid' },
  { name: 'colour', type: 'enum', values: ['red', '9007199254740993', ' a, "b" '] },
  { name: 'depot', type: 'reference', table: 'depots', key: { column: 'code', type: 'text' } },
  { name: 'depot_number', type: 'reference', table: 'depots', key: { column: 'number', type: 'bigint' } },
  ...itemTypes.map((items) => ({ name: `${items}_list`, type: 'array', items })),
]

/** The table that `depot` and `depot_number` refer to. */
export const depots = {
  slug: 'depots',
  columns: [
    { name: 'code', type: 'text', unique: true },
    { name: 'number', type: 'bigint', unique: true },
  ],
  records: [{ code: ' a, "b" ', number: '9007199254740993' }],
}

/** The type of a column's values; for a reference, the type of the referenced key. */
export function findType(name: string): string {
  const column = columns.find((one) => one.name === name)
  const key = column?.key as { type: string } | undefined
  return key?.type ?? column?.type ?? ''
}

/** The type of the elements of a list; for other columns, the type of their values. */
export const findItemType = (name: string): string =>
  String(columns.find((one) => one.name === name)?.items ?? findType(name))
