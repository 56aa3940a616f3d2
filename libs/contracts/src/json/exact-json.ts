import { parse, stringify } from 'lossless-json'

/** A JSON number: sign, whole part, fraction and exponent. */
const numberText = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Error text for a number a double cannot represent exactly; follows the field's name. */
export const inexactNumber =
  'is a number that a double-precision number cannot keep exactly: send fewer digits, or a string where one is accepted'

/** Counts the ExactNumbers written by JSON.stringify, so that `stringifyExact` can detect whether there was one. */
let written = 0

/** A number a double cannot represent exactly, kept as its original text. All other numbers are plain numbers. */
export class ExactNumber {
  readonly text: string

  /** Throws TypeError unless the text is a JSON number. */
  constructor(text: string) {
    if (!numberText.test(text)) throw new TypeError('the text is not a number in JSON')
    this.text = text
  }

  /** The text, which a plain JSON.stringify writes as a string: exact, although not a number. */
  toJSON(): string {
    written++
    return this.text
  }

  toString(): string {
    return this.text
  }
}

/**
 * Detects digits a double may change: at least 16 of them, or an exponent of three digits. A text without a match is
 * parsed by JSON.parse alone; a text with one is scanned a second time.
 */
const longDigits = /\d[\d.]{15}|\d[eE][+-]?\d{3}/

/** Whether a JSON text may contain an ExactNumber; `false` is certain. */
export const hasLongDigits = (text: string): boolean => longDigits.test(text)

/** Matches the numbers of a JSON text that have such digits, and occasionally similar text inside a string. */
const longNumbers =
  /(?:^|[:,[])[ \t\r\n]*(-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d{3,}))(?=[ \t\r\n]*(?:[,}\]]|$))/g

/** Like JSON.parse, but returns an ExactNumber for each number a double cannot represent exactly. Throws SyntaxError. */
export function parseExact(text: string): unknown {
  if (!hasLongDigits(text) || !hasExactNumber(text)) return JSON.parse(text)
  return parse(text, undefined, {
    parseNumber: numberOf,
    onDuplicateKey: ({ newValue }) => newValue,
  })
}

function hasExactNumber(text: string): boolean {
  for (const [, number] of text.matchAll(longNumbers)) {
    if (number !== undefined && numberText.test(number) && !survives(number)) return true
  }
  return false
}

const numberOf = (text: string): number | ExactNumber =>
  survives(text) ? Number(text) : new ExactNumber(text)

/** Whether the shortest text of the nearest double is the same number. */
function survives(text: string): boolean {
  const double = Number(text)
  if (!Number.isFinite(double)) return false
  const [exact, shortest] = [decimalOf(text), decimalOf(String(double))]
  return exact?.digits === shortest?.digits && exact?.exponent === shortest?.exponent
}

/** Like JSON.stringify, but writes each ExactNumber as a number. */
export function stringifyExact(value: unknown): string {
  const before = written
  const text = JSON.stringify(value)
  if (written === before) return text
  return stringify(value, undefined, undefined, [exactNumbers]) ?? text
}

const exactNumbers = {
  test: (value: unknown) => value instanceof ExactNumber,
  stringify: (value: unknown) => (value as ExactNumber).text,
}

interface Decimal {
  negative: boolean
  /** Without leading and trailing zeros; empty for zero. */
  digits: string
  /** Power of ten by which the digits, read as an integer, are multiplied. */
  exponent: number
}

function decimalOf(text: string): Decimal | undefined {
  const [matched, sign, whole = '', fraction = '', exponent = '0'] = numberText.exec(text) ?? []
  if (matched === undefined) return undefined
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  if (digits === '') return { negative: false, digits, exponent: 0 }
  return {
    negative: sign === '-',
    digits,
    exponent: Number(exponent) - fraction.length + all.length - digits.length,
  }
}

/** Compares all digits: negative if `left` is smaller, positive if it is greater. */
export function compareNumbers(left: number | ExactNumber, right: number | ExactNumber): number {
  const doubles = Number(String(left)) - Number(String(right))
  if (doubles < 0 || doubles > 0) return doubles
  const [a, b] = [decimalOf(String(left)), decimalOf(String(right))]
  if (!a || !b) return 0
  if (a.negative !== b.negative) return a.negative ? -1 : 1
  return magnitude(a, b) * (a.negative ? -1 : 1)
}

function magnitude(a: Decimal, b: Decimal): number {
  if (a.digits === '' || b.digits === '') return a.digits.length - b.digits.length
  const places = a.digits.length + a.exponent - b.digits.length - b.exponent
  if (places !== 0) return places
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -1 : 1
}

/** Maximum zeros to write out: an exponent of a few digits could produce megabytes. */
const maxZeros = 1_000

/**
 * A number as decimal digits without an exponent or unnecessary zeros, equal for equal numbers: `1e3` becomes `1000`. A
 * number with very many zeros keeps an exponent. `undefined` if the text is no JSON number.
 */
export function plainDecimal(text: string): string | undefined {
  const decimal = decimalOf(text)
  if (!decimal) return undefined
  const { negative, digits, exponent } = decimal
  if (digits === '') return '0'
  const sign = negative ? '-' : ''
  if (exponent > maxZeros || -exponent - digits.length > maxZeros) return `${sign}${digits}e${exponent}`
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent)
  const padded = digits.padStart(1 - exponent, '0')
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}

/**
 * The value with each ExactNumber replaced by a string of its digits, for expressions and code, whose numbers are
 * doubles. Returns the same value if it contains none.
 */
export function exactNumbersAsText(value: unknown): unknown {
  return containsExactNumber(value) ? withText(value) : value
}

function withText(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.text
  if (!containsExactNumber(value)) return value
  if (Array.isArray(value)) return value.map(withText)
  return Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, withText(inner)]))
}

function containsExactNumber(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  if (value instanceof ExactNumber) return true
  if (Array.isArray(value)) return value.some(containsExactNumber)
  const fields = value as Record<string, unknown>
  for (const name in fields) if (containsExactNumber(fields[name])) return true
  return false
}
