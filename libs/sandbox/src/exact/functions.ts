import type jsonata from 'jsonata'
import { addDecimals, type Decimal, decimalText, isNumber, parseDecimal } from './decimal.js'

/**
 * Makes `$number`, `$sum` and `$average` calculate in decimals: 0.1 plus 0.2 is 0.3. A value that no double represents
 * exactly, such as a text of 20 digits, is rejected instead of rounded. Operators such as `+` still calculate with
 * doubles.
 */
export function registerExactFunctions(expression: jsonata.Expression): void {
  expression.registerFunction('number', numberOf, '<(nsb)-:n>')
  expression.registerFunction('sum', sumOf, '<a<n>:n>')
  expression.registerFunction('average', averageOf, '<a<n>:n>')
}

/** Notations of JSONata that JSON does not have. */
const otherNotations = /^0(?:[xX][\da-fA-F]+|[oO][0-7]+|[bB][01]+)$/
const decimalNotation = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/
/** Maximum length of a number, including zeros. */
const maxCharacters = 1_000

function numberOf(value: unknown): unknown {
  if (value === undefined || typeof value === 'number') return value
  if (typeof value === 'boolean') return Number(value)
  const text = String(value)
  if (text.length > maxCharacters) throw inexact(text)
  if (otherNotations.test(text)) return Number(text)
  const decimal = decimalNotation.test(text) ? parseDecimal(text) : undefined
  if (decimal) return exact(decimal)
  // JSONata creates the messages of its errors from their codes.
  throw Object.assign(new Error(), { code: 'D3030', value, token: 'number' })
}

const sumOf = (values: readonly number[] | undefined): unknown => values && total(values)

/** A quotient with infinitely many digits is rounded. */
const averageOf = (values: readonly number[] | undefined): unknown =>
  values && (values.length === 0 ? undefined : total(values) / values.length)

/** Exact, unless a summand is itself rounded, as a third is; then the result is the double nearest to the sum. */
function total(values: readonly number[]): number {
  // Most summands are whole numbers, which doubles add exactly.
  let whole = 0
  let rest: Decimal = { digits: 0n, scale: 0 }
  let isRounded = false
  for (const value of values) {
    const added = whole + value
    if (Number.isSafeInteger(value) && Number.isSafeInteger(added)) {
      whole = added
      continue
    }
    const decimal = parseDecimal(String(value)) as Decimal
    isRounded ||= hasEveryDigit(decimal)
    rest = addDecimals(rest, decimal)
  }
  const sum = addDecimals({ digits: BigInt(whole), scale: 0 }, rest)
  return isRounded ? Number(decimalText(sum)) : exact(sum)
}

/** Doubles represent every decimal of 15 digits; a fraction with more digits has been rounded. */
const hasEveryDigit = ({ digits, scale }: Decimal) =>
  scale > 0 && (digits >= 1_000_000_000_000_000n || digits <= -1_000_000_000_000_000n)

function exact(decimal: Decimal): number {
  if (isNumber(decimal)) return Number(decimalText(decimal))
  throw inexact(decimalText(decimal))
}

function inexact(text: string): Error {
  const message = `${text.slice(0, 100)} has more digits than a number of an expression: use it as a text`
  return Object.assign(new Error(message), { code: 'inexact_number' })
}
