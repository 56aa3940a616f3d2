import { describe, expect, it, test } from '@jest/globals'
import { ExactNumber } from '@opsplane/contracts'
import { assets } from '../record/assets.fixture.js'
import { readRecord } from './input.js'
import { Problems } from './problems.js'

const body = { in: 'body', path: '' } as const

function read(given: unknown, isNew = false) {
  const problems = new Problems()
  const values = readRecord(assets, given, { place: body, problems, isNew })
  problems.check()
  return values
}

const detailsOf = (given: unknown, isNew = false) => {
  try {
    read(given, isNew)
  } catch (error) {
    return (error as { details: { path: string; message: string }[] }).details.map(
      ({ path, message }) => `${path} ${message}`,
    )
  }
  return []
}

describe('a value', () => {
  test.each<[string, unknown, unknown]>([
    ['counter', 42, '42'],
    ['counter', '-9223372036854775808', '-9223372036854775808'],
    ['counter', 1e18, '1000000000000000000'],
    ['counter', new ExactNumber('9007199254740993'), '9007199254740993'],
    ['counter', new ExactNumber('9223372036854775807.0'), '9223372036854775807'],
    ['counter', '1e3', '1000'],
    ['price', 12.5, 12.5],
    ['price', 1.5e-1, '0.15'],
    ['price', new ExactNumber('1234.5000000000000000'), '1234.5'],
    ['price', '1.2E3', '1200'],
    ['extra', new ExactNumber('9007199254740993'), '9007199254740993'],
    ['price', '0012.500', '0012.500'],
    ['seen_at', '2026-03-02T11:00:00+01:00', '2026-03-02T10:00:00.000Z'],
    ['seen_at', '2026-03-02T10:00:00.120000000Z', '2026-03-02T10:00:00.120000Z'],
    ['token', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['extra', { a: ['\\u0000 is only text'] }, { a: ['\\u0000 is only text'] }],
    ['name', '😀'.repeat(40), '😀'.repeat(40)],
    ['bought_on', null, null],
  ])('of %s is accepted: %j', (column, given, value) => {
    const kept = read({ [column]: given })[column]
    expect(String(kept)).toEqual(String(value))
  })

  test.each<[string, unknown, string]>([
    ['name', 'x'.repeat(41), 'must have at most 40 characters'],
    ['name', null, 'must not be null'],
    ['name', 'a\0', 'must not contain the character U+0000'],
    ['quantity', 2 ** 31, 'must be from -2147483648 to 2147483647'],
    ['quantity', '3', 'must be a whole number'],
    ['counter', '9223372036854775808', 'is out of range'],
    ['counter', 1e21, 'is out of range'],
    ['counter', 1.5, 'must be a whole number'],
    ['counter', new ExactNumber('9007199254740993.5'), 'must be a whole number'],
    ['quantity', new ExactNumber('9007199254740993'), 'must be from -2147483648 to 2147483647'],
    ['quantity', new ExactNumber('1.00000000000000001'), 'must be a whole number'],
    ['name', new ExactNumber('9007199254740993'), 'must be a text'],
    ['price', '1.234', 'must have at most 2 decimal places'],
    ['price', '12345', 'must have at most 4 digits before the decimal point'],
    ['price', 1e-7, 'must have at most 2 decimal places'],
    ['price', 1e21, 'must have at most 4 digits before the decimal point'],
    ['price', new ExactNumber('12.3456789012345678'), 'must have at most 2 decimal places'],
    ['bought_on', '2026-02-30', 'must be a date, such as "2026-03-02"'],
    ['bought_on', '2026-13-01', 'must be a date, such as "2026-03-02"'],
    ['seen_at', '2026-03-02T10:00:00', 'must be an instant with its offset, such as "2026-03-02T10:00:00Z"'],
    ['seen_at', '2026-02-30T10:00:00Z', 'must be an instant with its offset, such as "2026-03-02T10:00:00Z"'],
    ['seen_at', '2026-03-02T10:00:00.0001Z', 'must have at most 3 digits of a second'],
    ['extra', { a: '\0' }, 'must not contain the character U+0000'],
    ['status', 'old', 'must be one of new, used'],
    ['label', 'x', 'is computed, so it cannot be given'],
    ['version', 3, 'is kept by the platform'],
    ['colour', 'red', 'is not a column of this table'],
  ])('of %s is rejected: %j', (column, given, message) => {
    expect(detailsOf({ [column]: given })).toEqual([`/${column} ${message}`])
  })
})

it('a new record is rejected with all of its errors', () => {
  expect(detailsOf({ quantity: 1.5, status: 'old' }, true)).toEqual([
    '/quantity must be a whole number',
    '/status must be one of new, used',
    '/name is required',
  ])
})
