import { toUSVString } from 'node:util'
import { stringifyExact } from '@opsplane/contracts'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { z } from 'zod'
import { type Column, type ColumnType, type Row, textOf } from './column.js'
import { packed, unpacked } from './parquet-state.js'
import type { FormatWriter, WriterState } from './writer.js'

/** Of one row group, in rows and in about as many bytes before they are encoded. */
const groupRows = 100_000
const groupBytes = 2 * 1_048_576

const State = z.object({ offset: z.number(), rows: z.string(), groups: z.string() })

type ColumnValues = unknown[]

/** Row groups of Snappy pages with statistics; every column may be null. */
export function parquetWriter(columns: readonly Column[], given?: WriterState): FormatWriter {
  const bytes = new ByteWriter()
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...elements[type] })),
  ]
  const parquet = new ParquetWriter({ writer: bytes, schema, createdBy: 'Opsplane' })
  if (given !== undefined) {
    const { offset, rows, groups } = State.parse(given)
    // What it has written by itself is the beginning of a file that has begun already.
    bytes.index = 0
    bytes.offset = offset
    parquet.num_rows = BigInt(rows)
    parquet.row_groups = unpacked(groups) as typeof parquet.row_groups
  }
  const converts = columns.map(({ type }) => conversions[type])
  const empty = (): ColumnValues[] => columns.map(() => [])
  let values = empty()
  let heldBytes = 0

  const taken = (): Uint8Array => {
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
    heldBytes = 0
  }
  const take = (row: Row) => {
    for (let at = 0; at < converts.length; at++) {
      const value = row[at]
      const converted = value === null || value === undefined ? null : (converts[at]?.(value) ?? null)
      values[at]?.push(converted)
      heldBytes += typeof converted === 'string' ? converted.length + 4 : 8
    }
  }

  return {
    async write(rows) {
      for (const row of rows) {
        take(row)
        if (heldBytes >= groupBytes || (values[0]?.length ?? 0) >= groupRows) encode()
      }
      return taken()
    },
    held: () => heldBytes,
    async flush() {
      encode()
      return taken()
    },
    state: () => ({
      offset: bytes.offset,
      rows: String(parquet.num_rows),
      groups: packed(parquet.row_groups),
    }),
    async end() {
      encode()
      parquet.finish()
      return taken()
    },
    warnings: () => [],
  }
}

const elements: Record<ColumnType, Pick<SchemaElement, 'type' | 'converted_type'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE' },
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
}

const dayMs = 86_400_000

const conversions: Record<ColumnType, (value: unknown) => unknown> = {
  text: (value) => toUSVString(textOf(value)),
  integer: (value) => {
    const isWhole = typeof value === 'number' ? Number.isSafeInteger(value) : /^-?\d+$/.test(String(value))
    return isWhole ? BigInt(value as string | number | bigint) : null
  },
  number: Number,
  boolean: (value) => value === true,
  date: (value) => Math.floor(Date.parse(String(value)) / dayMs),
  timestamp: (value) => BigInt(Date.parse(String(value))),
  json: (value) => stringifyExact(value),
}
