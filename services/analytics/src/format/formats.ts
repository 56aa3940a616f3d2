import type { ExportFormat } from '@opsplane/contracts'
import type { Column } from './column.js'
import { type CsvOptions, csvWriter } from './csv.js'
import { jsonWriter, ndjsonWriter } from './json.js'
import { parquetWriter } from './parquet.js'
import type { FormatWriter, WriterState } from './writer.js'
import { xlsxWriter } from './xlsx.js'

export interface WriterOptions extends CsvOptions {
  format: ExportFormat
}

/** Starts a file, or continues one from the state it was flushed with. */
export function openWriter(
  { format, ...csv }: WriterOptions,
  columns: readonly Column[],
  state?: WriterState,
): FormatWriter {
  switch (format) {
    case 'csv':
      return csvWriter(columns, csv, state)
    case 'ndjson':
      return ndjsonWriter(columns, state)
    case 'json':
      return jsonWriter(columns, state)
    case 'xlsx':
      return xlsxWriter(columns, state)
    case 'parquet':
      return parquetWriter(columns, state)
  }
}

export const contentTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  json: 'application/json; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
}
