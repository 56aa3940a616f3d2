import {
  CalendarDay,
  type Column,
  ExactNumber,
  inexactNumber,
  Moment,
  plainDecimal,
  stringifyExact,
} from '@opsplane/contracts'
import type { Field, ValueKind } from './fields.js'
import {
  floatProblem,
  fractionProblem,
  intervalPattern,
  isReal,
  localPattern,
  secondDigits,
  specialFloats,
  timePattern,
} from './value-forms.js'

/** A value in the form sent to Postgres, as JSON; or a message about it. */
export type ParsedValue = { value: unknown } | { problem: string }

/** Placeholder for a value of a file that cannot be parsed; rejected for any column. */
export class UnreadableValue {
  constructor(readonly problem: string) {}
}

const int4 = 2_147_483_648
const int8 = 9_223_372_036_854_775_808n

const wrong = (problem: string): ParsedValue => ({ problem })
const right = (value: unknown): ParsedValue => ({ value })

/** Parses one non-null value for its field. A value that is too long or out of range for the column is rejected. */
export function parseValue(
  { kind, definition }: Pick<Field, 'kind' | 'definition'>,
  value: unknown,
): ParsedValue {
  return value instanceof UnreadableValue ? wrong(value.problem) : parsers[kind](value, definition)
}

type Parser = (value: unknown, column: Column | undefined) => ParsedValue

const parsers: Record<ValueKind, Parser> = {
  text(value, column) {
    if (typeof value !== 'string') return wrong('must be a text')
    if (value.includes('\0')) return wrong('must not contain the character U+0000')
    const maxLength = column?.type === 'text' ? column.maxLength : undefined
    if (maxLength !== undefined && maxLength !== null && lengthOf(value, maxLength) > maxLength)
      return wrong(`must have at most ${maxLength} characters`)
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
    const behind = Math.max(scale, 0)
    if (fraction.replace(/0+$/, '').length > behind)
      return wrong(`must have at most ${behind} decimal places`)
    const digits = whole.replace(/^0+/, '')
    const before = Math.max(precision - scale, 0)
    if (digits.length > before) return wrong(`must have at most ${before} digits before the decimal point`)
    const zeros = '0'.repeat(Math.max(-scale, 0))
    if (digits !== '' && !digits.endsWith(zeros)) return wrong(`must be a multiple of 1${zeros}`)
    return right(text)
  },
  float(value, column) {
    if (value instanceof ExactNumber) return wrong(inexactNumber)
    const isSingle = column?.type === 'float' && column.precision !== undefined
    if (isSingle && typeof value === 'number' && !isReal(value))
      return wrong('has more digits, or is greater or smaller, than the column keeps')
    const isFloat = (typeof value === 'number' && Number.isFinite(value)) || specialFloats.has(value)
    return isFloat ? right(value) : wrong(floatProblem)
  },
  boolean: (value) => (typeof value === 'boolean' ? right(value) : wrong('must be true or false')),
  date: (value) =>
    CalendarDay.safeParse(value).success ? right(value) : wrong('must be a date, such as "2026-03-02"'),
  timestamp(value, column) {
    const moment = Moment.safeParse(value)
    if (!moment.success) return wrong('must be an instant with its offset, such as "2026-03-02T10:00:00Z"')
    const problem = fractionProblem(String(value), instantDigits(column))
    if (problem) return wrong(problem)
    const [, digits = ''] = /\.(\d+)/.exec(String(value)) ?? []
    return right(digits.length > 3 ? moment.data.replace(/\.\d{3}/, `.${digits.slice(0, 6)}`) : moment.data)
  },
  time(value, column) {
    if (typeof value !== 'string' || !timePattern.test(value))
      return wrong('must be a time of day, such as "08:30:00"')
    const problem = fractionProblem(value, digitsOfSecond(column))
    return problem ? wrong(problem) : right(value)
  },
  local_timestamp(value, column) {
    const isLocal = typeof value === 'string' && localPattern.test(value)
    if (!isLocal || !CalendarDay.safeParse(value.slice(0, 10)).success)
      return wrong('must be a date and time without an offset, such as "2026-03-02T10:00:00"')
    const problem = fractionProblem(value, instantDigits(column))
    return problem ? wrong(problem) : right(value)
  },
  interval(value, column) {
    if (typeof value !== 'string' || !intervalPattern.test(value))
      return wrong('must be a duration of ISO 8601, such as "P1DT2H30M"')
    const problem = fractionProblem(value, digitsOfSecond(column))
    return problem ? wrong(problem) : right(value)
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
  array(value, column) {
    if (!Array.isArray(value) || value.length > maxItems)
      return wrong(`must be a list of at most ${maxItems} values`)
    const items = column?.type === 'array' ? column.items : 'text'
    const element = column?.type === 'array' ? elementOf(column) : column
    const found: unknown[] = []
    for (const [index, item] of value.entries()) {
      const parsed = item === null ? right(null) : parsers[items](item, element)
      if ('problem' in parsed) return wrong(`has an element, at place ${index}, that ${parsed.problem}`)
      found.push(parsed.value)
    }
    return right(found)
  },
  other: () => wrong('is of a type that only SQL writes'),
}

const maxItems = 10_000

/** Number of second digits that a column stores; the maximum of Postgres for values that are only compared. */
const digitsOfSecond = (column: Column | undefined): number =>
  (column && 'precision' in column ? column.precision : undefined) ?? secondDigits

/** Same for instants and local date-times, whose columns store milliseconds. */
const instantDigits = (column: Column | undefined): number =>
  column === undefined ? secondDigits : Math.min(digitsOfSecond(column), 3)

/** The column definition that corresponds to the elements of an array. */
const elementOf = ({ items, precision, scale, ...column }: Extract<Column, { type: 'array' }>) =>
  ({
    ...column,
    type: items,
    ...(precision !== undefined && { precision, scale: scale ?? 0 }),
    ...(precision === undefined && items === 'decimal' && { precision: null, scale: null }),
  }) as Column

const decimalPattern = /^-?(\d{1,1000})(?:\.(\d{1,1000}))?$/
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Length in code points, as Postgres counts characters. Counted only if the text could be too long. */
const lengthOf = (text: string, maxLength: number): number =>
  text.length <= maxLength ? text.length : [...text].length

/** A number, or a text that may be a number, as digits without an exponent. `undefined` for any other value. */
function digitsOf(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return plainDecimal(value.text)
  if (typeof value === 'number') return plainDecimal(String(value))
  if (typeof value !== 'string') return undefined
  return /e/i.test(value) ? plainDecimal(value) : value
}

const isWholeText = (value: unknown): boolean =>
  value instanceof ExactNumber && /^-?\d+$/.test(plainDecimal(value.text) ?? '')
