import { refusedCase, storedCase, type ValueCase } from './case.js'

const day = '2026-03-02'

/** Cases for dates, times of day, instants and durations. */
export const momentCases: readonly ValueCase[] = [
  ...['0001-01-01', '9999-12-31', '2024-02-29'].map((text) => storedCase('day', `"${text}"`)),
  ...['2026-02-30', '0000-01-01', '2026-3-2x'].map((text) => refusedCase('day', `"${text}"`)),
  ...['10000-01-01', '0044-03-15 BC', 'infinity'].map((text) =>
    refusedCase('day', `"${text}"`, { sql: `"${text}"` }),
  ),
  refusedCase('day', `" ${day} "`, { csv: `"${day}"`, sql: `"${day}"` }),
  refusedCase('day', `"${day}T10:00:00Z"`, { sql: `"${day}"` }),
  storedCase('opens', '"08:30"', '"08:30:00"'),
  storedCase('opens', '"24:00"', '"24:00:00"'),
  storedCase('opens', '"23:59:59.999999"'),
  storedCase('opens', '"08:30:00.5"'),
  ...['24:00:01', '25:00', 'noonish'].map((text) => refusedCase('opens', `"${text}"`)),
  refusedCase('opens', '"08:30:00.1234567"', { sql: '"08:30:00.123457"' }),
  storedCase('seen_at', `"${day}T10:00:00.123Z"`),
  storedCase('seen_at', `"${day}t10:00z"`, `"${day}T10:00:00.000Z"`),
  storedCase('seen_at', `"${day}T10:00:00.120000000Z"`, `"${day}T10:00:00.120Z"`),
  storedCase('seen_at', '"2026-03-29T02:30:00+01:00"', '"2026-03-29T01:30:00.000Z"'),
  storedCase('seen_at', '"2026-10-25T02:30:00+02:00"', '"2026-10-25T00:30:00.000Z"'),
  storedCase('seen_at', '"1969-12-31T23:59:59.999Z"'),
  storedCase('seen_at', '"0001-01-01T00:00:00.000Z"'),
  storedCase('seen_at', '"9999-12-31T23:59:59.999Z"'),
  // The column stores milliseconds, and SQL rounds to them.
  refusedCase('seen_at', `"${day}T10:00:00.123456Z"`, { sql: `"${day}T10:00:00.123Z"` }),
  refusedCase('seen_at', `"${day}T10:00:00"`, { sql: `"${day}T10:00:00.000Z"` }),
  refusedCase('seen_at', '"2016-12-31T23:59:60Z"', { sql: '"2017-01-01T00:00:00.000Z"' }),
  refusedCase('seen_at', `"${day}T24:00:00Z"`, { sql: '"2026-03-03T00:00:00.000Z"' }),
  refusedCase('seen_at', '"9999-12-31T23:59:59-01:00"', { sql: '"10000-01-01 00:59:59+00"' }),
  ...['0044-03-15 12:00:00+00 BC', 'infinity', '-infinity'].map((text) =>
    refusedCase('seen_at', `"${text}"`, { sql: `"${text}"` }),
  ),
  storedCase('local_at', '"2026-03-29T02:30:00"'),
  storedCase('local_at', '"2026-10-25T02:30"', '"2026-10-25T02:30:00"'),
  storedCase('local_at', `"${day}T10:00:00.120000"`, `"${day}T10:00:00.12"`),
  storedCase('local_at', '"0001-01-01T00:00:00"'),
  refusedCase('local_at', `"${day}T10:00:00.123456"`, { sql: `"${day}T10:00:00.123"` }),
  refusedCase('local_at', `"${day}T10:00:00.1230000004"`, { sql: `"${day}T10:00:00.123"` }),
  refusedCase('local_at', `"${day}T10:00:00Z"`, { sql: `"${day}T10:00:00"` }),
  refusedCase('local_at', '"2026-02-30T10:00:00"'),
  refusedCase('local_at', '"0044-03-15T12:00:00 BC"', { sql: '"0044-03-15T12:00:00 BC"' }),
  refusedCase('local_at', '"infinity"', { sql: '"infinity"' }),
  ...['P1DT2H30M', 'PT0S', 'P1Y2M3DT4H5M6.789S', 'PT36H', 'PT0.000001S', 'PT-0.5S'].map((text) =>
    storedCase('lasts', `"${text}"`),
  ),
  storedCase('lasts', '"P2W"', '"P14D"'),
  storedCase('lasts', '"P-1DT2H"', '"P-1DT2H"'),
  refusedCase('lasts', '"P999999999Y"'),
  refusedCase('lasts', '"1 day"', { sql: '"P1D"' }),
  refusedCase('lasts', '"PT1.1234567S"', { sql: '"PT1.123457S"' }),
]
