import {
  CsvDelimiter,
  csvBomDescription,
  ImportFormat,
  RecordImport,
  StudioRecord,
} from '@opsplane/contracts'
import { defineRoute, defineStream, defineUpload, type Route } from '@opsplane/http'
import { z } from 'zod'
import { ListFilters } from './record-query.js'
import type { RecordServices } from './record-services.js'

const tag = 'Records'
const path = '/tables/:slug/records'
const mediaTypes = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const
const maxFileBytes = 1024 * 1024 * 1024

const Columns = z
  .string()
  .min(1)
  .max(1_000)
  .transform((text) => text.split(','))

/** Routes of imports and exports. */
export function transferRoutes({ imports, exported }: RecordServices): Route[] {
  return [
    defineUpload({
      operationId: 'importRecords',
      method: 'post',
      path: `${path}/import`,
      summary: 'Import a file of records',
      description:
        'Accepts CSV with the column names in the first line, or one JSON object per line, in UTF-8; at most 1 GiB. ' +
        'An empty CSV cell is no value, and `""` is an empty text. The file is stored and imported in the ' +
        'background: refused rows are reported with their line numbers, and each of the other rows is written ' +
        'exactly once, regardless of interruptions. The file may contain all columns of an export; id, version and ' +
        'times are assigned again.',
      tag,
      scope: 'records:write',
      mediaTypes: Object.keys(mediaTypes),
      bodyLimitBytes: maxFileBytes,
      query: z.object({
        format: ImportFormat.default('csv').meta({ description: 'Format of the file.' }),
        delimiter: CsvDelimiter.default(','),
        on: Columns.optional().meta({
          description: 'Columns that are unique together: existing records with the same values are updated.',
          example: 'serial_number',
        }),
      }),
      response: RecordImport,
      status: 202,
      errors: ['not_found', 'forbidden', 'quota_exceeded'],
      handler: ({ params, query, upload, meta }) => imports.begin(params.slug, query, upload, meta),
    }),

    defineRoute({
      operationId: 'getRecordImport',
      method: 'get',
      path: '/tables/:slug/imports/:id',
      summary: 'Get an import',
      description: 'Returns the import with its progress and the refused rows, each with its errors.',
      tag,
      scope: 'records:read',
      response: RecordImport,
      handler: ({ params, meta }) => imports.get(params.slug, params.id, meta),
    }),

    defineRoute({
      operationId: 'cancelRecordImport',
      method: 'post',
      path: '/tables/:slug/imports/:id/cancel',
      summary: 'Cancel an import',
      description: 'The import ends after the batch that is being written; records already written remain.',
      tag,
      scope: 'records:write',
      response: RecordImport,
      idempotency: 'claim',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => imports.cancel(params.slug, params.id, meta),
    }),

    defineStream({
      operationId: 'exportRecords',
      path: `${path}/export`,
      summary: 'Export records',
      description:
        'Returns all matching records in the order of ids, as CSV or as one JSON object per line. If the chunked ' +
        'response ends without its final chunk, the export has failed and is incomplete.',
      tag,
      scope: 'records:read',
      query: z.object({
        format: ImportFormat.default('csv'),
        delimiter: CsvDelimiter.default(','),
        bom: z
          .enum(['true', 'false'])
          .default('false')
          .transform((text) => text === 'true')
          .meta({ description: csvBomDescription }),
        filter: ListFilters.shape.filter,
        timeZone: ListFilters.shape.timeZone,
        fields: ListFilters.shape.fields,
      }),
      mediaTypes: ['text/csv', 'application/x-ndjson'],
      line: StudioRecord,
      errors: ['not_found'],
      handler: ({ params, query, meta }) => exported(params.slug, query, meta),
    }),
  ]
}
