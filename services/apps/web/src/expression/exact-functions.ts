import type jsonata from 'jsonata'
import { addDecimals, type Decimal, decimalText, isNumber, parseDecimal } from '../page/decimal.js'

/**
 * Has `$number`, `$sum` and `$average` count in decimals: 0.1 and 0.2 are 0.3. What no double is exactly, such as a text of 20
 * digits, is refused instead of rounded.
 */
export function registerExactFunctions(expression: jsonata.Expression): void {
  expression.registerFunction('number', numberOf, '<(nsb)-:n>')
  expression.registerFunction('sum', sumOf, '<a<n>:n>')
  expression.registerFunction('average', averageOf, '<a<n>:n>')
}

/** As JSONata writes numbers that no JSON has. */
const otherNotations = /^0(?:[xX][\da-fA-F]+|[oO][0-7]+|[bB][01]+)$/
const decimalNotation = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

function numberOf(value: unknown): unknown {
  if (value === undefined || typeof value === 'number') return value
  if (typeof value === 'boolean') return Number(value)
  const text = String(value)
  if (otherNotations.test(text)) return Number(text)
  const decimal = decimalNotation.test(text) ? parseDecimal(text) : undefined
  if (decimal) return exact(decimal)
  // JSONata words its errors by their codes.
  throw Object.assign(new Error(), { code: 'D3030', value, token: 'number' })
}

const sumOf = (values: readonly number[] | undefined): unknown => values && exact(decimalSum(values))

/** A quotient that does not end is rounded. */
const averageOf = (values: readonly number[] | undefined): unknown =>
  values && (values.length === 0 ? undefined : exact(decimalSum(values)) / values.length)

const decimalSum = (values: readonly number[]): Decimal =>
  values.reduce((sum, value) => addDecimals(sum, parseDecimal(String(value)) as Decimal), {
    ...{ digits: 0n, scale: 0 },
  })

function exact(decimal: Decimal): number {
  if (isNumber(decimal)) return Number(decimalText(decimal))
  throw new Error(`${decimalText(decimal)} has more digits than a number of an expression: use it as a text`)
}
