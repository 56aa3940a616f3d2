/** An exact decimal number: `digits` divided by 10 to the power of `scale`. */
export interface Decimal {
  digits: bigint
  scale: number
}

const pattern = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** Parses a number in the notation of JSON or of a person; `undefined` if the text is not a number. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = pattern.exec(text.trim()) ?? []
  if (sign === undefined) return undefined
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

const scaled = ({ digits, scale }: Decimal, to: number): bigint => digits * 10n ** BigInt(to - scale)

/** Negative if the first is less than the second, 0 if they are equal, otherwise positive. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  const scale = Math.max(left.scale, right.scale)
  const difference = scaled(left, scale) - scaled(right, scale)
  return difference < 0n ? -1 : Number(difference > 0n)
}

export function addDecimals(left: Decimal, right: Decimal): Decimal {
  const scale = Math.max(left.scale, right.scale)
  return { digits: scaled(left, scale) + scaled(right, scale), scale }
}

/** Sign, whole part and fraction with all its digits. */
export function splitDecimal({ digits, scale }: Decimal): {
  sign: '' | '-'
  whole: string
  fraction: string
} {
  const text = `${digits < 0n ? -digits : digits}`.padStart(scale + 1, '0')
  const at = text.length - scale
  return { sign: digits < 0n ? '-' : '', whole: text.slice(0, at), fraction: text.slice(at) }
}

export function decimalText(decimal: Decimal): string {
  const { sign, whole, fraction } = splitDecimal(decimal)
  return `${sign}${whole}${fraction && `.${fraction}`}`
}

/** Whether a JavaScript number represents this value exactly. */
export function isNumber(decimal: Decimal): boolean {
  const kept = parseDecimal(String(Number(decimalText(decimal))))
  return kept !== undefined && compareDecimals(kept, decimal) === 0
}

/**
 * Returns a number if JavaScript represents it exactly and integers around it are exact too, otherwise its text, because a
 * rounded number would be another value.
 */
export function toNumberOrText(decimal: Decimal): number | string {
  const text = decimalText(decimal)
  const number = Number(text)
  return isNumber(decimal) && (Number.isSafeInteger(number) || !Number.isInteger(number)) ? number : text
}
