import { type ResultColumnType, stringifyExact } from '@opsplane/contracts'

/**
 * Type of the values in a column; any may be null. `integer` and `number` are a number or its digits, `bigint` and
 * `decimal` are digits, `timestamp` is ISO 8601 in UTC, `json` is any JSON value, and all others are strings.
 */
export type ColumnType = ResultColumnType

export interface Column {
  /** Unique within the file. */
  name: string
  label: string
  type: ColumnType
}

export type Row = readonly unknown[]

/** Formats values of type `json` as JSON, all others as strings. */
export const formatValue = (type: ColumnType, value: unknown): string =>
  type === 'json' || typeof value === 'object' ? stringifyExact(value) : String(value)
