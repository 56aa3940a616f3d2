import { type Column, ExactNumber, plainDecimal, stringifyExact } from '@opsplane/contracts'
import type { Field, ValueKind } from './fields.js'

/** A value as it goes to Postgres, in JSON; or what is wrong with it. */
export type Parsed = { value: unknown } | { problem: string }

const int4 = 2_147_483_648
const int8 = 9_223_372_036_854_775_808n

const wrong = (problem: string): Parsed => ({ problem })
const right = (value: unknown): Parsed => ({ value })

/** Parses one value that is not null by its field. What is right for the column but too long or out of range is wrong. */
export function parseValue({ kind, definition }: Pick<Field, 'kind' | 'definition'>, value: unknown): Parsed {
  return parsers[kind](value, definition)
}

type Parser = (value: unknown, column: Column | undefined) => Parsed

const parsers: Record<ValueKind, Parser> = {
  text(value, column) {
    if (typeof value !== 'string') return wrong('must be a text')
    if (value.includes('\0')) return wrong('must not contain the character U+0000')
    const most = column?.type === 'text' ? column.maxLength : undefined
    if (most !== undefined && most !== null && lengthOf(value, most) > most)
      return wrong(`must have at most ${most} characters`)
    return right(value)
  },
  integer(value) {
    const isWhole = typeof value === 'number' ? Number.isInteger(value) : isWholeText(value)
    if (!isWhole) return wrong('must be a whole number')
    return typeof value === 'number' && value >= -int4 && value < int4
      ? right(value)
      : wrong(`must be from -${int4} to ${int4 - 1}`)
  },
  bigint(value) {
    const text = digitsOf(value)
    if (text === undefined || !/^-?\d+$/.test(text)) return wrong('must be a whole number')
    if (text.length > 20) return wrong('is out of range')
    const number = BigInt(text)
    return number < int8 && number >= -int8 ? right(String(number)) : wrong('is out of range')
  },
  decimal(value, column) {
    const text = digitsOf(value)
    const match = text === undefined ? null : decimalPattern.exec(text)
    if (!match) return wrong('must be a decimal, such as "12.50"')
    const [, whole = '', fraction = ''] = match
    if (column?.type !== 'decimal' || column.precision === null) return right(text)
    const { precision } = column
    const scale = column.scale ?? 0
    if (fraction.replace(/0+$/, '').length > scale) return wrong(`must have at most ${scale} decimal places`)
    if (whole.replace(/^0+/, '').length > precision - scale)
      return wrong(`must have at most ${precision - scale} digits before the decimal point`)
    return right(text)
  },
  boolean: (value) => (typeof value === 'boolean' ? right(value) : wrong('must be true or false')),
  date(value) {
    return typeof value === 'string' && datePattern.test(value) && isDay(value)
      ? right(value)
      : wrong('must be a date, such as "2026-03-02"')
  },
  timestamp(value) {
    // A Date takes the 30th of February for the 2nd of March.
    const isInstant = typeof value === 'string' && instantPattern.test(value) && isDay(value.slice(0, 10))
    const instant = isInstant ? new Date(value) : undefined
    const isTime = instant !== undefined && !Number.isNaN(instant.getTime()) && isInYears(instant)
    return isTime
      ? right(instant.toISOString())
      : wrong('must be an instant with its offset, such as "2026-03-02T10:00:00Z"')
  },
  json: (value) =>
    /(?<!\\)(?:\\\\)*\\u0000/.test(stringifyExact(value))
      ? wrong('must not contain the character U+0000')
      : right(value),
  uuid: (value) =>
    typeof value === 'string' && uuidPattern.test(value)
      ? right(value.toLowerCase())
      : wrong('must be a UUID'),
  enum(value, column) {
    const values = column?.type === 'enum' ? column.values : undefined
    if (typeof value !== 'string') return wrong('must be a text')
    return values === undefined || values.includes(value)
      ? right(value)
      : wrong(`must be one of ${values.join(', ')}`)
  },
  reference: (value) =>
    typeof value === 'string' && value.length <= 200 && !value.includes('\0')
      ? right(value)
      : wrong('must be the id of a record'),
}

const decimalPattern = /^-?(\d{1,1000})(?:\.(\d{1,1000}))?$/
const datePattern = /^(?!0000)\d{4}-\d\d-\d\d$/
const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether there is such a day in the calendar of today, of a text of the right form. */
function isDay(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))]
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeap ? 29 : (daysOfMonths[month - 1] ?? 0)
  return day >= 1 && day <= days
}

const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const isInYears = (instant: Date): boolean => {
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999
}

/** Characters are what Postgres counts: code points. Counted only where the text could be too long. */
const lengthOf = (text: string, most: number): number =>
  text.length <= most ? text.length : [...text].length

/** A number, or a text that may be one, as digits without an exponent. Undefined for anything else. */
function digitsOf(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return plainDecimal(value.text)
  if (typeof value === 'number') return plainDecimal(String(value))
  if (typeof value !== 'string') return undefined
  return /e/i.test(value) ? plainDecimal(value) : value
}

const isWholeText = (value: unknown): boolean =>
  value instanceof ExactNumber && /^-?\d+$/.test(plainDecimal(value.text) ?? '')
