import type { Component } from '@opsplane/contracts'
import { type Decimal, parseDecimal, splitDecimal } from '@opsplane/sandbox/exact'
import { toText } from '../expression/evaluate.js'

export type Format = Extract<Component, { type: 'metric' }>['format']

const nothing = '–'

/** Formats a value for people, in their language and time zone. Numbers given as text are shown with all their digits. */
export function formatValue(value: unknown, format: Format): string {
  if (value === null || value === undefined || value === '') return nothing
  switch (format) {
    case 'number':
      return ofNumber(value, exactly, (number) =>
        new Intl.NumberFormat(undefined, { maximumSignificantDigits: significant }).format(number),
      )
    case 'percent':
      return ofNumber(value, percent, (number) =>
        new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(number),
      )
    case 'date':
      return ofTime(
        value,
        dateOnly(value) ? { dateStyle: 'medium', timeZone: 'UTC' } : { dateStyle: 'medium' },
      )
    case 'datetime':
      return ofTime(value, { dateStyle: 'medium', timeStyle: 'short' })
    case 'boolean':
      return value === true || value === 'true' ? 'Yes' : 'No'
    case 'duration':
      return ofNumber(value, undefined, duration)
    case 'badge':
      return words(toText(value))
    case 'text':
      return toText(value)
  }
}

/** Significant digits of a double; further digits are artefacts, as in 0.1 + 0.2. */
const significant = 15

function ofNumber(
  value: unknown,
  exact: ((decimal: Decimal) => string) | undefined,
  rounded: (number: number) => string,
): string {
  const decimal = exact && typeof value === 'string' ? parseDecimal(value) : undefined
  if (exact && decimal) return exact(decimal)
  const number = Number(value)
  return Number.isFinite(number) ? rounded(number) : toText(value)
}

/** Formats all digits, with the separators of the reader's language. */
function exactly(decimal: Decimal): string {
  const { sign, whole, fraction } = splitDecimal(decimal)
  const grouped = new Intl.NumberFormat(undefined, { numberingSystem: 'latn' }).format(BigInt(whole))
  return `${sign}${grouped}${fraction && `${decimalSeparator()}${fraction}`}`
}

const percent = ({ digits, scale }: Decimal): string =>
  `${exactly(scale >= 2 ? { digits, scale: scale - 2 } : { digits: digits * 10n ** BigInt(2 - scale), scale: 0 })}%`

/** The decimal separator of the reader's language. */
export const decimalSeparator = (): string =>
  new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'

/** Converts a status such as `in_use` to words. */
const words = (text: string) =>
  /^[a-z][a-z0-9_]*$/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1).replaceAll('_', ' ') : text

/** A day without a time is the same in every time zone. */
const dateOnly = (value: unknown) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)

function ofTime(value: unknown, options: Intl.DateTimeFormatOptions): string {
  const time = new Date(typeof value === 'number' ? value : toText(value))
  return Number.isNaN(time.getTime())
    ? toText(value)
    : new Intl.DateTimeFormat(undefined, options).format(time)
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** Formats seconds with the two largest units. */
function duration(seconds: number): string {
  let left = Math.round(Math.abs(seconds))
  const parts: string[] = []
  for (const [unit, size] of units) {
    const count = Math.floor(left / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    left %= size
  }
  if (left > 0 || parts.length === 0) parts.push(`${left} s`)
  return `${seconds < 0 ? '−' : ''}${parts.slice(0, 2).join(' ')}`
}

/** The value at a dotted path of a row. A field whose name itself contains dots is found as well. */
export function readField(row: Readonly<Record<string, unknown>>, field: string): unknown {
  if (Object.hasOwn(row, field)) return row[field]
  return field
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      row,
    )
}
