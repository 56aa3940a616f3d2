import { canonicalJson, parseExact, plainDecimal } from '@opsplane/contracts'
import { type Case, kept, refused } from './case.js'
import { itemsOf } from './columns.js'
import { listCases } from './list-cases.js'
import { momentCases } from './moment-cases.js'

/** A text that is kept as it is. */
const text = (value: string): Case => kept('name', JSON.stringify(value))

const deep = `${'['.repeat(60)}1234567890123456.7891${']'.repeat(60)}`

export const cases: readonly Case[] = [
  ...['', ' ', ' lead and trail ', 'NULL', 'null', 'true', '007', '9007199254740993', '1e21'].map(text),
  ...['a,b;"c"\r\n\td\\', 'e\u0301 \u00e9 漢字 🙂👩‍👧', '\ufeff\u2028\u200b', '\u0001\u007f\u0085'].map(text),
  ...['=1+1', '{{ input.row.tag }}', "'; drop table values; -- $1 :name", '_x0041_<b>&amp;', '\\N'].map(text),
  ...['9007199254740993', '1', 'true'].map((sent) =>
    refused('name', sent, { csv: `"${sent}"`, sql: `"${sent}"` }),
  ),
  refused('name', '"a\\u0000b"'),
  // A file of UTF-8 has no half of a surrogate pair.
  refused('name', '"\\ud800"', { csv: '"\ufffd"' }),
  refused('name', '["a"]', { csv: '"[\\"a\\"]"' }),
  kept('code', '"😀😀😀😀😀"'),
  refused('code', '"😀😀😀😀😀x"'),
  // The standard of SQL has it so: of what is too long, blanks at the end are left out.
  refused('code', '"abcde "', { sql: '"abcde"' }),
  kept('quantity', '2147483647'),
  kept('quantity', '-2147483648'),
  kept('quantity', '1e3', '1000'),
  kept('quantity', '-0', '0'),
  refused('quantity', '2147483648'),
  refused('quantity', '9007199254740993'),
  refused('quantity', '1.5'),
  refused('quantity', '1.00000000000000000001'),
  refused('quantity', '"5"', { csv: '5', sql: '5' }),
  refused('quantity', 'true'),
  kept('counter', '9007199254740993', '"9007199254740993"'),
  kept('counter', '"-9223372036854775808"'),
  kept('counter', '1e18', '"1000000000000000000"'),
  kept('counter', '9223372036854775807', '"9223372036854775807"'),
  refused('counter', '9223372036854775808'),
  refused('counter', '9007199254740993.5'),
  refused('counter', '"abc"'),
  kept('price', '1234567890123456.7891', '"1234567890123456.7891"'),
  kept('price', '"1234567890123456.7891"'),
  kept('price', '-0.1', '"-0.1000"'),
  refused('price', '12345678901234567.1'),
  // The scale of a column rounds in SQL.
  refused('price', '0.12345678901234567', { sql: '"0.1235"' }),
  refused('price', '"NaN"', { sql: '"NaN"' }),
  kept('amount', '0.0000001', '"0.0000001"'),
  kept('amount', '1e21', '"1000000000000000000000"'),
  kept('amount', '123456789012345678901234567890.123456789', '"123456789012345678901234567890.123456789"'),
  kept('amount', '"-12.500"'),
  refused('amount', '1e400', { csv: '"1e400"' }),
  refused('amount', '1e-400', { csv: '"1e-400"' }),
  refused('amount', '"Infinity"', { sql: '"Infinity"' }),
  refused('amount', '"1,5"'),
  ...['0.1', '0.30000000000000004', '1e21', '5e-324', '-1.7976931348623157e308'].map((n) => kept('ratio', n)),
  ...['"NaN"', '"Infinity"', '"-Infinity"'].map((n) => kept('ratio', n)),
  kept('ratio', '-0', '0'),
  refused('ratio', '9007199254740993', { sql: '9007199254740992' }),
  refused('ratio', '0.1234567890123456789', { sql: '0.12345678901234568' }),
  refused('ratio', '1e400'),
  refused('ratio', '"1.5"', { csv: '1.5', sql: '1.5' }),
  kept('extra', '{"a":[9007199254740993,1234567890123456.7891,"9007199254740993",-0.1,1e-7,1e21,null,true]}'),
  kept('extra', '123456789012345678.5'),
  kept('extra', '{"n":0.30000000000000004,"":{" ü ":[[],{}]}}'),
  ...['""', '" text "', '"123"', '"null"', 'true', '0', '[]', '{}', '[null]', deep].map((json) =>
    kept('extra', json),
  ),
  ...['{"a":"\\u0000"}', '"\\udc00"', '{"__proto__":1}', '1e400'].map((json) => refused('extra', json)),
  kept('active', 'true'),
  kept('active', 'false'),
  refused('active', '1', { csv: 'true', sql: 'true' }),
  refused('active', '"true"', { csv: 'true', sql: 'true' }),
  refused('active', '"maybe"'),
  kept('token', '"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"', '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'),
  refused('token', '"a0eebc999c0b4ef8bb6d6bb9bd380a11"', { sql: '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"' }),
  kept('colour', '"9007199254740993"'),
  kept('colour', '" a, \\"b\\" "'),
  refused('colour', '9007199254740993', { csv: '"9007199254740993"', sql: '"9007199254740993"' }),
  refused('colour', '"Red"'),
  refused('colour', '"red "'),
  kept('depot', '" a, \\"b\\" "'),
  refused('depot', '"a"'),
  kept('depot_number', '9007199254740993', '"9007199254740993"'),
  refused('depot_number', '9007199254740992'),
  ...momentCases,
  ...listCases,
]

/** Whether two values are the same: of decimals by their amount, and of lists by their elements. */
export function sameValue(column: string, left: unknown, right: unknown): boolean {
  const isNumeric = ['bigint', 'decimal'].includes(itemsOf(column))
  return normal(left, isNumeric) === normal(right, isNumeric)
}

/** The same text for the same value, whatever way its numbers are written. */
export function normal(value: unknown, isNumeric = false): string {
  if (isNumeric && Array.isArray(value)) return `[${value.map((item) => normal(item, true))}]`
  const given = isNumeric && value !== null && value !== undefined ? String(value) : value
  const plain = isNumeric ? plainDecimal(String(given)) : undefined
  if (plain !== undefined) return plain
  return canonicalJson(parseExact(canonicalJson(given))).replace(
    /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
    (token) => (token.startsWith('"') ? token : (plainDecimal(token) ?? token)),
  )
}
