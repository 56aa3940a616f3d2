import { ExactNumber, type Quantity } from '@opsplane/contracts'
import { BigNumber } from 'bignumber.js'

/** Sums, products and comparisons are exact; a quotient that does not end has so many places. */
const Decimal = BigNumber.clone({ DECIMAL_PLACES: 20, ROUNDING_MODE: BigNumber.ROUND_HALF_EVEN })
export type Decimal = BigNumber

/** What the records API and JSON write as a number; an exponent of more digits would make megabytes of zeros. */
const decimalText = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

/** A number, or a text of the digits of one; undefined for everything else, as for what is no number in Postgres either. */
export function parseDecimal(value: unknown): Decimal | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? new Decimal(value) : undefined
  const text = value instanceof ExactNumber ? value.text : value
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  return decimalText.test(trimmed) ? new Decimal(trimmed) : undefined
}

export const zero: Decimal = new Decimal(0)

/** A number where the double nearest to the decimal reads as the same decimal, else its digits. */
export function toQuantity(decimal: Decimal): Quantity {
  const double = decimal.toNumber()
  if (double === 0) return decimal.isZero() ? 0 : decimal.toFixed()
  return Number.isFinite(double) && decimal.eq(double) ? double : decimal.toFixed()
}

/** Exact where it ends within 20 places; one that does not is rounded to a double, as nothing carries it. */
export function divide(dividend: Decimal, divisor: Decimal): Quantity | null {
  if (divisor.isZero()) return null
  const quotient = dividend.div(divisor)
  const isExact = quotient.times(divisor).eq(dividend)
  return isExact || quotient.abs().gt(Number.MAX_SAFE_INTEGER) ? toQuantity(quotient) : quotient.toNumber()
}

/** Below, at or above zero, by the exact values. */
export const compareQuantities = (left: Quantity, right: Quantity): number =>
  typeof left === 'number' && typeof right === 'number'
    ? left - right
    : (new Decimal(left).comparedTo(right) ?? 0)
