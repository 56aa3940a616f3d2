import { ExactNumber, type Quantity } from '@opsplane/contracts'
import { BigNumber } from 'bignumber.js'

/** Sums, products and comparisons are exact. A quotient with no finite expansion is rounded to this many places. */
const Decimal = BigNumber.clone({ DECIMAL_PLACES: 20, ROUNDING_MODE: BigNumber.ROUND_HALF_EVEN })
export type Decimal = BigNumber

/** The number syntax of the records API and of JSON. A longer exponent would expand to megabytes of zeros. */
const decimalText = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

/**
 * Parses a number, or a string of its digits. Returns `undefined` for everything else, including strings that Postgres
 * does not accept as a number.
 */
export function parseDecimal(value: unknown): Decimal | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? new Decimal(value) : undefined
  const text = value instanceof ExactNumber ? value.text : value
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  return decimalText.test(trimmed) ? new Decimal(trimmed) : undefined
}

export const zero: Decimal = new Decimal(0)

/** Returns a number if the nearest double equals the decimal, otherwise its digits. */
export function toQuantity(decimal: Decimal): Quantity {
  const double = decimal.toNumber()
  if (double === 0) return decimal.isZero() ? 0 : decimal.toFixed()
  return Number.isFinite(double) && decimal.eq(double) ? double : decimal.toFixed()
}

/** Exact if the quotient ends within 20 places; otherwise rounded to a double, because no representation is exact. */
export function divide(dividend: Decimal, divisor: Decimal): Quantity | null {
  if (divisor.isZero()) return null
  const quotient = dividend.div(divisor)
  const isExact = quotient.times(divisor).eq(dividend)
  return isExact || quotient.abs().gt(Number.MAX_SAFE_INTEGER) ? toQuantity(quotient) : quotient.toNumber()
}

/** Negative, zero or positive, compared by the exact values. */
export const compareQuantities = (left: Quantity, right: Quantity): number =>
  typeof left === 'number' && typeof right === 'number'
    ? left - right
    : (new Decimal(left).comparedTo(right) ?? 0)
