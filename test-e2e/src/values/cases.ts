import { canonicalJson, parseExact, plainDecimal } from '@opsplane/contracts'
import { refusedCase, storedCase, type ValueCase } from './case.js'
import { findItemType } from './columns.js'
import { listCases } from './list-cases.js'
import { momentCases } from './moment-cases.js'

/** A text that is stored unchanged. */
const text = (value: string): ValueCase => storedCase('name', JSON.stringify(value))

const deep = `${'['.repeat(60)}1234567890123456.7891${']'.repeat(60)}`

export const cases: readonly ValueCase[] = [
  ...['', ' ', ' lead and trail ', 'NULL', 'null', 'true', '007', '9007199254740993', '1e21'].map(text),
  ...['a,b;"c"\r\n\td\\', 'e\u0301 \u00e9 漢字 🙂👩‍👧', '\ufeff\u2028\u200b', '\u0001\u007f\u0085'].map(text),
  ...['=1+1', '{{ input.row.tag }}', "'; drop table values; -- $1 :name", '_x0041_<b>&amp;', '\\N'].map(text),
  ...['9007199254740993', '1', 'true'].map((sent) =>
    refusedCase('name', sent, { csv: `"${sent}"`, sql: `"${sent}"` }),
  ),
  refusedCase('name', '"a\\u0000b"'),
  // A UTF-8 file cannot contain a lone surrogate.
  refusedCase('name', '"\\ud800"', { csv: '"\ufffd"' }),
  refusedCase('name', '["a"]', { csv: '"[\\"a\\"]"' }),
  storedCase('code', '"😀😀😀😀😀"'),
  refusedCase('code', '"😀😀😀😀😀x"'),
  // The SQL standard truncates trailing spaces from a value that is too long.
  refusedCase('code', '"abcde "', { sql: '"abcde"' }),
  storedCase('quantity', '2147483647'),
  storedCase('quantity', '-2147483648'),
  storedCase('quantity', '1e3', '1000'),
  storedCase('quantity', '-0', '0'),
  refusedCase('quantity', '2147483648'),
  refusedCase('quantity', '9007199254740993'),
  refusedCase('quantity', '1.5'),
  refusedCase('quantity', '1.00000000000000000001'),
  refusedCase('quantity', '"5"', { csv: '5', sql: '5' }),
  refusedCase('quantity', 'true'),
  storedCase('counter', '9007199254740993', '"9007199254740993"'),
  storedCase('counter', '"-9223372036854775808"'),
  storedCase('counter', '1e18', '"1000000000000000000"'),
  storedCase('counter', '9223372036854775807', '"9223372036854775807"'),
  refusedCase('counter', '9223372036854775808'),
  refusedCase('counter', '9007199254740993.5'),
  refusedCase('counter', '"abc"'),
  storedCase('price', '1234567890123456.7891', '"1234567890123456.7891"'),
  storedCase('price', '"1234567890123456.7891"'),
  storedCase('price', '-0.1', '"-0.1000"'),
  refusedCase('price', '12345678901234567.1'),
  // SQL rounds to the scale of the column.
  refusedCase('price', '0.12345678901234567', { sql: '"0.1235"' }),
  refusedCase('price', '"NaN"', { sql: '"NaN"' }),
  storedCase('amount', '0.0000001', '"0.0000001"'),
  storedCase('amount', '1e21', '"1000000000000000000000"'),
  storedCase(
    'amount',
    '123456789012345678901234567890.123456789',
    '"123456789012345678901234567890.123456789"',
  ),
  storedCase('amount', '"-12.500"'),
  refusedCase('amount', '1e400', { csv: '"1e400"' }),
  refusedCase('amount', '1e-400', { csv: '"1e-400"' }),
  refusedCase('amount', '"Infinity"', { sql: '"Infinity"' }),
  refusedCase('amount', '"1,5"'),
  ...['0.1', '0.30000000000000004', '1e21', '5e-324', '-1.7976931348623157e308'].map((n) =>
    storedCase('ratio', n),
  ),
  ...['"NaN"', '"Infinity"', '"-Infinity"'].map((n) => storedCase('ratio', n)),
  storedCase('ratio', '-0', '0'),
  refusedCase('ratio', '9007199254740993', { sql: '9007199254740992' }),
  refusedCase('ratio', '0.1234567890123456789', { sql: '0.12345678901234568' }),
  refusedCase('ratio', '1e400'),
  refusedCase('ratio', '"1.5"', { csv: '1.5', sql: '1.5' }),
  storedCase(
    'extra',
    '{"a":[9007199254740993,1234567890123456.7891,"9007199254740993",-0.1,1e-7,1e21,null,true]}',
  ),
  storedCase('extra', '123456789012345678.5'),
  storedCase('extra', '{"n":0.30000000000000004,"":{" ü ":[[],{}]}}'),
  ...['""', '" text "', '"123"', '"null"', 'true', '0', '[]', '{}', '[null]', deep].map((json) =>
    storedCase('extra', json),
  ),
  ...['{"a":"\\u0000"}', '"\\udc00"', '{"__proto__":1}', '1e400'].map((json) => refusedCase('extra', json)),
  storedCase('active', 'true'),
  storedCase('active', 'false'),
  refusedCase('active', '1', { csv: 'true', sql: 'true' }),
  refusedCase('active', '"true"', { csv: 'true', sql: 'true' }),
  refusedCase('active', '"maybe"'),
  storedCase('item', '"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"', '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'),
  refusedCase('item', '"a0eebc999c0b4ef8bb6d6bb9bd380a11"', {
    sql: '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"',
  }),
  storedCase('colour', '"9007199254740993"'),
  storedCase('colour', '" a, \\"b\\" "'),
  refusedCase('colour', '9007199254740993', { csv: '"9007199254740993"', sql: '"9007199254740993"' }),
  refusedCase('colour', '"Red"'),
  refusedCase('colour', '"red "'),
  storedCase('depot', '" a, \\"b\\" "'),
  refusedCase('depot', '"a"'),
  storedCase('depot_number', '9007199254740993', '"9007199254740993"'),
  refusedCase('depot_number', '9007199254740992'),
  ...momentCases,
  ...listCases,
]

/** Whether two values are equal: decimals are compared by value, and lists by their elements. */
export function sameValue(column: string, left: unknown, right: unknown): boolean {
  const isNumeric = ['bigint', 'decimal'].includes(findItemType(column))
  return normal(left, isNumeric) === normal(right, isNumeric)
}

/** A canonical text: equal for equal values, whatever the notation of their numbers. */
export function normal(value: unknown, isNumeric = false): string {
  if (isNumeric && Array.isArray(value)) return `[${value.map((item) => normal(item, true))}]`
  const input = isNumeric && value !== null && value !== undefined ? String(value) : value
  const plain = isNumeric ? plainDecimal(String(input)) : undefined
  if (plain !== undefined) return plain
  return canonicalJson(parseExact(canonicalJson(input))).replace(
    /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
    (token) => (token.startsWith('"') ? token : (plainDecimal(token) ?? token)),
  )
}
