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
        'CSV with the columns in its first line, or a JSON object a line, in UTF-8; at most 1 GiB. An empty cell of CSV is no value, and `""` an empty text. The file is kept, and imported in the background: rows that are refused are reported with their lines, the others are written once each, whatever happens meanwhile. The columns of an export may all be there; id, version and times are assigned again.',
      tag,
      scope: 'records:write',
      mediaTypes: Object.keys(mediaTypes),
      bodyLimitBytes: maxFileBytes,
      query: z.object({
        format: ImportFormat.default('csv').meta({ description: 'What the file is.' }),
        delimiter: CsvDelimiter.default(','),
        on: Columns.optional().meta({
          description: 'Columns that together are unique: what is there already is updated.',
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
      summary: 'Get an import with its progress and the rows it refused',
      description: 'Rows that were refused are listed with what is wrong with each.',
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
      description: 'It ends after the batch that is being written; what is written stays.',
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
        'Everything that matches, in the order of ids, as CSV or as a JSON object a line. Without its end, which a chunked answer has, something went wrong on the way.',
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
