import { type ResultColumnType, stringifyExact } from '@opsplane/contracts'

/**
 * What the values of a column are; any may be null. `integer` is a number or its digits, `number` a number or its digits,
 * `bigint` and `decimal` digits, `timestamp` ISO 8601 in UTC, `json` anything JSON can say, and all others are texts.
 */
export type ColumnType = ResultColumnType

export interface Column {
  /** Unique within the file. */
  name: string
  label: string
  type: ColumnType
}

export type Row = readonly unknown[]

/** Values of type `json` as JSON, those of all others as they are. */
export const formatValue = (type: ColumnType, value: unknown): string =>
  type === 'json' || typeof value === 'object' ? stringifyExact(value) : String(value)
