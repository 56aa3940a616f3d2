import { toUSVString } from 'node:util'
import { ApiError } from '@opsplane/contracts'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { z } from 'zod'
import { type Column, type ColumnType, formatValue, type Row } from './column.js'
import { packGroups, unpackGroups } from './parquet-state.js'
import type { FormatWriter, WriterState } from './writer.js'

/** Size of a row group: rows, and the approximate bytes before encoding. */
const groupRows = 100_000
const groupBytes = 2 * 1_048_576

const State = z.object({
  offset: z.number(),
  rows: z.string(),
  groups: z.string(),
  omitted: z.number().optional(),
})

type ColumnValues = unknown[]

/** Writes row groups of Snappy pages with statistics; every column is nullable. */
export function parquetWriter(columns: readonly Column[], savedState?: WriterState): FormatWriter {
  const bytes = new ByteWriter()
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...elements[type] })),
  ]
  const parquet = new ParquetWriter({ writer: bytes, schema, createdBy: 'Opsplane' })
  const restored = savedState === undefined ? undefined : State.parse(savedState)
  if (restored) {
    const { offset, rows, groups } = restored
    // Instants of such files are in milliseconds.
    if (restored.omitted === undefined)
      throw new ApiError('conflict', 'The file was begun by an earlier version. Export again.')
    // The constructor has written the start of a file, but this file has already been started.
    bytes.index = 0
    bytes.offset = offset
    parquet.num_rows = BigInt(rows)
    parquet.row_groups = unpackGroups(groups) as typeof parquet.row_groups
  }
  const converts = columns.map(({ type }) => conversions[type])
  let omitted = restored?.omitted ?? 0
  const empty = (): ColumnValues[] => columns.map(() => [])
  let values = empty()
  let bufferedBytes = 0

  const drainBytes = (): Uint8Array => {
    const written = Uint8Array.from(bytes.getBytes())
    bytes.index = 0
    return written
  }
  const encode = () => {
    const count = values[0]?.length ?? 0
    if (count === 0) return
    const columnData = columns.map(({ name }, at) => ({ name, data: values[at] ?? [], offsetIndex: false }))
    parquet.write({ columnData, rowGroupSize: count })
    parquet.pendingIndexes.length = 0
    values = empty()
    bufferedBytes = 0
  }
  const bufferRow = (row: Row) => {
    for (let at = 0; at < converts.length; at++) {
      const value = row[at]
      const isThere = value !== null && value !== undefined
      const converted = isThere ? (converts[at]?.(value) ?? null) : null
      if (isThere && converted === null) omitted++
      values[at]?.push(converted)
      bufferedBytes += typeof converted === 'string' ? converted.length + 4 : 8
    }
  }

  return {
    async write(rows) {
      for (const row of rows) {
        bufferRow(row)
        if (bufferedBytes >= groupBytes || (values[0]?.length ?? 0) >= groupRows) encode()
      }
      return drainBytes()
    },
    bufferedBytes: () => bufferedBytes,
    async flush() {
      encode()
      return drainBytes()
    },
    state: () => ({
      offset: bytes.offset,
      rows: String(parquet.num_rows),
      groups: packGroups(parquet.row_groups),
      omitted,
    }),
    async end() {
      encode()
      parquet.finish()
      return drainBytes()
    },
    warnings: () =>
      omitted === 0
        ? []
        : [
            `${omitted} values, such as the date infinity, are beyond what Parquet has for their type, and were left out.`,
          ],
  }
}

const elements: Record<ColumnType, Pick<SchemaElement, 'type' | 'converted_type'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  bigint: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  // Parquet decimals have a fixed precision per column, which a Postgres decimal may exceed.
  decimal: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE' },
  time: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
  local_timestamp: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  interval: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
}

const dayMs = 86_400_000
const minInt64 = -(2n ** 63n)

/** Returns `null` for values that exceed 64 bits. */
function int64(value: unknown): bigint | null {
  if (!/^-?\d{1,19}$/.test(String(value))) return null
  const whole = BigInt(String(value))
  return whole >= minInt64 && whole < -minInt64 ? whole : null
}

/** Days since 1970; `null` for values that are not calendar dates, such as infinity. */
const toDays = (value: unknown): number | null =>
  /^\d{4}-\d\d-\d\d$/.test(String(value)) ? Math.floor(Date.parse(String(value)) / dayMs) : null

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{0,3})Z$/

/** Microseconds since 1970, the precision of Postgres; `null` for infinity and dates BC. */
function toMicroseconds(value: unknown): bigint | null {
  const found = instant.exec(String(value))
  if (!found) return null
  const [text, beyond = ''] = found
  return BigInt(Date.parse(`${text.slice(0, 23)}Z`)) * 1_000n + BigInt(beyond.padEnd(3, '0'))
}

const utf8 =
  (type: ColumnType) =>
  (value: unknown): string =>
    toUSVString(formatValue(type, value))

const conversions: Record<ColumnType, (value: unknown) => unknown> = {
  ...{ text: utf8('text'), json: utf8('json'), decimal: utf8('decimal'), time: utf8('time') },
  ...{ local_timestamp: utf8('local_timestamp'), interval: utf8('interval') },
  ...{ integer: int64, bigint: int64, date: toDays, timestamp: toMicroseconds },
  number: Number,
  boolean: (value) => value === true,
}
