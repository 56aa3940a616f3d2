import { type Case, kept, refused } from './case.js'

const texts = ['', ' a ', 'NULL', 'null', 'a,b', 'say "hi"', '{x}', 'back\\slash', '🙂\n', '=1', '\\N']

/** Of lists of each type. */
export const listCases: readonly Case[] = [
  kept('text_list', '[]'),
  kept('text_list', '[null]'),
  kept('text_list', JSON.stringify([...texts, null])),
  refused('text_list', '"a"', { sql: null }),
  refused('text_list', '[1]', { sql: '["1"]' }),
  refused('text_list', '["a\\u0000"]'),
  refused('text_list', '[["a"]]', { sql: '[["a"]]' }),
  kept('integer_list', '[1,null,-2147483648]'),
  refused('integer_list', '[2147483648]'),
  kept(
    'bigint_list',
    '[9007199254740993,"-9223372036854775808",null]',
    '["9007199254740993","-9223372036854775808",null]',
  ),
  refused('bigint_list', '[9223372036854775808]'),
  kept('decimal_list', '[0.1,"1.50",1e21,null]', '["0.1","1.50","1000000000000000000000",null]'),
  kept('decimal_list', '[123456789012345678901234567890.5]', '["123456789012345678901234567890.5"]'),
  kept('float_list', '[0.1,"NaN","-Infinity",1e21,5e-324,null]'),
  refused('float_list', '[9007199254740993]', { sql: '[9007199254740992]' }),
  kept('boolean_list', '[true,false,null]'),
  kept('date_list', '["0001-01-01","9999-12-31",null]'),
  refused('date_list', '["2026-02-30"]'),
  refused('date_list', '["0044-03-15 BC","infinity"]', { sql: '["0044-03-15 BC","infinity"]' }),
  kept('time_list', '["24:00","08:30:00.5",null]', '["24:00:00","08:30:00.5",null]'),
  kept(
    'timestamp_list',
    '["2026-03-29T02:30:00+01:00","1969-12-31T23:59:59.999Z",null]',
    '["2026-03-29T01:30:00.000Z","1969-12-31T23:59:59.999Z",null]',
  ),
  refused('timestamp_list', '["2026-03-02T10:00:00.123456Z"]', { sql: '["2026-03-02T10:00:00.123Z"]' }),
  refused('timestamp_list', '["infinity"]', { sql: '["infinity"]' }),
  kept('local_timestamp_list', '["2026-03-29T02:30:00","2026-03-02T10:00:00.12",null]'),
  refused('local_timestamp_list', '["2026-03-02T10:00:00.123456"]', { sql: '["2026-03-02T10:00:00.123"]' }),
  kept('interval_list', '["P1DT2H30M","PT-0.5S",null]'),
  kept('uuid_list', '["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",null]'),
]
