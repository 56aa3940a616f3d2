import { plainDecimal, stringifyExact } from '@opsplane/contracts'

export interface Column {
  name: string
  type: string
  [setting: string]: unknown
}

/** A column of each type; `tag` finds the record of a case again. */
export const columns: readonly Column[] = [
  { name: 'tag', type: 'text', unique: true },
  { name: 'name', type: 'text' },
  { name: 'quantity', type: 'integer' },
  { name: 'counter', type: 'bigint' },
  { name: 'price', type: 'decimal', precision: 20, scale: 4 },
  { name: 'amount', type: 'decimal' },
  { name: 'extra', type: 'json' },
  { name: 'active', type: 'boolean' },
  { name: 'day', type: 'date' },
  { name: 'seen_at', type: 'timestamp' },
  { name: 'token', type: 'uuid' },
  { name: 'colour', type: 'enum', values: ['red', '9007199254740993'] },
]

/** A value as it is sent, and as it has to come back, both as JSON; null where it has to be refused. */
export interface Case {
  column: string
  sent: string
  back: string | null
}

const kept = (column: string, sent: string, back = sent): Case => ({ column, sent, back })
const refused = (column: string, sent: string): Case => ({ column, sent, back: null })

export const cases: readonly Case[] = [
  kept('name', '"9007199254740993"'),
  kept('name', '"1e21"'),
  refused('name', '9007199254740993'),
  kept('quantity', '2147483647'),
  kept('quantity', '1e3', '1000'),
  refused('quantity', '9007199254740993'),
  refused('quantity', '1.00000000000000000001'),
  kept('counter', '9007199254740993', '"9007199254740993"'),
  kept('counter', '"-9223372036854775808"'),
  kept('counter', '1e18', '"1000000000000000000"'),
  kept('counter', '9223372036854775807', '"9223372036854775807"'),
  refused('counter', '9223372036854775808'),
  refused('counter', '9007199254740993.5'),
  kept('price', '1234567890123456.7891', '"1234567890123456.7891"'),
  kept('price', '"1234567890123456.7891"'),
  kept('price', '-0.1', '"-0.1000"'),
  refused('price', '12345678901234567.1'),
  refused('price', '0.12345678901234567'),
  kept('amount', '0.0000001', '"0.0000001"'),
  kept('amount', '1e21', '"1000000000000000000000"'),
  kept('amount', '123456789012345678901234567890.123456789', '"123456789012345678901234567890.123456789"'),
  refused('amount', '1e400'),
  refused('amount', '1e-400'),
  kept('extra', '{"a":[9007199254740993,1234567890123456.7891,"9007199254740993",-0.1,1e-7,1e21,null,true]}'),
  kept('extra', '123456789012345678.5'),
  kept('extra', '{"n":0.30000000000000004}'),
  kept('active', 'true'),
  kept('day', '"2026-03-02"'),
  kept('seen_at', '"2026-03-02T10:00:00.123Z"'),
  kept('token', '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'),
  kept('colour', '"9007199254740993"'),
  refused('colour', '9007199254740993'),
]

export const typeOf = (column: string): string => columns.find(({ name }) => name === column)?.type ?? ''

/** The same text for the same value, whatever way its numbers are written. */
export function normal(value: unknown): string {
  return stringifyExact(value).replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : (plainDecimal(token) ?? token),
  )
}

/** A decimal in a text or a number is the same value; elsewhere a text is no number. */
export function sameValue(column: string, left: unknown, right: unknown): boolean {
  const isNumeric = ['bigint', 'decimal'].includes(typeOf(column))
  if (!isNumeric) return normal(left) === normal(right)
  const [a, b] = [left, right].map((value) => plainDecimal(String(value)))
  return a !== undefined && a === b
}
