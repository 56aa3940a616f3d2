import { refusedCase, storedCase, type ValueCase } from './case.js'

const texts = ['', ' a ', 'NULL', 'null', 'a,b', 'say "hi"', '{x}', 'back\\slash', '🙂\n', '=1', '\\N']

/** Cases for lists of each type. */
export const listCases: readonly ValueCase[] = [
  storedCase('text_list', '[]'),
  storedCase('text_list', '[null]'),
  storedCase('text_list', JSON.stringify([...texts, null])),
  refusedCase('text_list', '"a"', { sql: null }),
  refusedCase('text_list', '[1]', { sql: '["1"]' }),
  refusedCase('text_list', '["a\\u0000"]'),
  refusedCase('text_list', '[["a"]]', { sql: '[["a"]]' }),
  storedCase('integer_list', '[1,null,-2147483648]'),
  refusedCase('integer_list', '[2147483648]'),
  storedCase(
    'bigint_list',
    '[9007199254740993,"-9223372036854775808",null]',
    '["9007199254740993","-9223372036854775808",null]',
  ),
  refusedCase('bigint_list', '[9223372036854775808]'),
  storedCase('decimal_list', '[0.1,"1.50",1e21,null]', '["0.1","1.50","1000000000000000000000",null]'),
  storedCase('decimal_list', '[123456789012345678901234567890.5]', '["123456789012345678901234567890.5"]'),
  storedCase('float_list', '[0.1,"NaN","-Infinity",1e21,5e-324,null]'),
  refusedCase('float_list', '[9007199254740993]', { sql: '[9007199254740992]' }),
  storedCase('boolean_list', '[true,false,null]'),
  storedCase('date_list', '["0001-01-01","9999-12-31",null]'),
  refusedCase('date_list', '["2026-02-30"]'),
  refusedCase('date_list', '["0044-03-15 BC","infinity"]', { sql: '["0044-03-15 BC","infinity"]' }),
  storedCase('time_list', '["24:00","08:30:00.5",null]', '["24:00:00","08:30:00.5",null]'),
  storedCase(
    'timestamp_list',
    '["2026-03-29T02:30:00+01:00","1969-12-31T23:59:59.999Z",null]',
    '["2026-03-29T01:30:00.000Z","1969-12-31T23:59:59.999Z",null]',
  ),
  refusedCase('timestamp_list', '["2026-03-02T10:00:00.123456Z"]', { sql: '["2026-03-02T10:00:00.123Z"]' }),
  refusedCase('timestamp_list', '["infinity"]', { sql: '["infinity"]' }),
  storedCase('local_timestamp_list', '["2026-03-29T02:30:00","2026-03-02T10:00:00.12",null]'),
  refusedCase('local_timestamp_list', '["2026-03-02T10:00:00.123456"]', {
    sql: '["2026-03-02T10:00:00.123"]',
  }),
  storedCase('interval_list', '["P1DT2H30M","PT-0.5S",null]'),
  storedCase('uuid_list', '["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",null]'),
]
