import { stringifyExact } from '@opsplane/contracts'
/** What the values of a column are; any may be null. */
export const columnTypes = ['text', 'integer', 'number', 'boolean', 'date', 'timestamp', 'json'] as const

/**
 * `text` is a string, `integer` a number, a bigint or its digits, `number` a number or its digits, `date` is `YYYY-MM-DD`,
 * `timestamp` ISO 8601 in UTC, `json` anything JSON can say.
 */
export type ColumnType = (typeof columnTypes)[number]

export interface Column {
  /** Unique within the file. */
  name: string
  label: string
  type: ColumnType
}

export type Row = readonly unknown[]

/** A value as text: JSON for what has parts. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? stringifyExact(value) : String(value)
