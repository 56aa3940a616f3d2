import { toUSVString } from 'node:util'
import { type Column, type ColumnType, formatValue } from './column.js'
import { styles } from './xlsx-workbook.js'

/** Writes a cell at a reference such as B7; empty for null. */
export type CellWriter = (reference: string, value: unknown) => string

/** Maximum number of characters in a cell. */
const maxCharacters = 32_767
/** Number of digits a workbook number preserves; longer numbers are written as text, so that no digit is lost. */
const maxDigits = 15
const dayMs = 86_400_000
/** Day 0 of the workbook's calendar. */
const epochMs = Date.UTC(1899, 11, 30)

/** Creates a writer for each column. `onCut` is called for each text that was truncated. */
export function cellWriters(columns: readonly Column[], onCut: () => void): CellWriter[] {
  return columns.map(({ type }) => {
    const write = createCellWriter(type, onCut)
    return (reference, value) => (value === null || value === undefined ? '' : write(reference, value))
  })
}

function createCellWriter(type: ColumnType, onCut: () => void): CellWriter {
  const text: CellWriter = (reference, value) => {
    const whole = formatValue(type, value)
    if (whole.length <= maxCharacters) return textCell(reference, whole)
    onCut()
    return textCell(reference, `${whole.slice(0, maxCharacters - 1)}…`)
  }
  const ofTypes: Record<ColumnType, CellWriter> = {
    ...{ text, json: text, time: text, local_timestamp: text, interval: text },
    ...{ integer: numeric, bigint: numeric, number: numeric, decimal: numeric },
    ...{ date: dateCell(styles.date), timestamp: dateCell(styles.timestamp) },
    boolean: (reference, value) => `<c r="${reference}" t="b"><v>${value === true ? 1 : 0}</v></c>`,
  }
  return ofTypes[type]
}

const numeric: CellWriter = (reference, value) =>
  isExact(value) ? `<c r="${reference}"><v>${value}</v></c>` : textCell(reference, String(value))

/** Whether a workbook shows exactly the number that is written. */
const isExact = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : Number.isFinite(Number(value)) && String(value).replace(/\D/g, '').length <= maxDigits

/** Matches instants with microseconds, which a serial day cannot represent. */
const hasMicroseconds = /\.\d{3}(?!0*Z)\d+Z$/

/** Rounded up, because readers truncate to milliseconds: rounding down would give the millisecond before. */
function toSerialDay(text: string): number {
  const days = (Date.parse(text) - epochMs) / dayMs
  return Number.isInteger(days) ? days : days * (1 + Number.EPSILON)
}

const dateCell =
  (style: number): CellWriter =>
  (reference, value) => {
    const text = String(value)
    const days = hasMicroseconds.test(text) ? Number.NaN : toSerialDay(text)
    // The calendar includes February 29, 1900, a day that did not exist: all earlier days are off by one.
    return days > 60 && days < 2_958_466
      ? `<c r="${reference}" s="${style}"><v>${days}</v></c>`
      : textCell(reference, text)
  }

export const textCell = (reference: string, text: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`

// Characters not allowed in XML, characters with a meaning in XML, and sequences that workbooks read as an escape.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape
const special = /[&<>\u0000-\u0008\u000b\u000c\u000d\u000e-\u001f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_/g
const suspicious = /[&<>\p{Cc}\ufffe\uffff]|_x|\p{Surrogate}/u

/** Escapes any text for use as element content. */
function escapeXml(text: string): string {
  if (!suspicious.test(text)) return text
  return toUSVString(text).replace(special, (found) => {
    if (found === '&') return '&amp;'
    if (found === '<') return '&lt;'
    if (found === '>') return '&gt;'
    if (found.startsWith('_x')) return `_x005F${found}`
    return `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
  })
}
