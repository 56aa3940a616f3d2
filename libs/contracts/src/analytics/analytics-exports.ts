import { z } from 'zod'
import { CsvDelimiter, csvBomDescription } from '../core/csv.js'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'
import { AnalyticsQuery, FactRowsQuery, ResultColumn } from './analytics-query.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)

export const exportFormats = ['csv', 'ndjson', 'json', 'xlsx', 'parquet'] as const
export const ExportFormat = z.enum(exportFormats).meta({
  description:
    '`csv`: RFC 4180 with a header row. `ndjson` and `json`: one object per row, with values as in the API. ' +
    '`xlsx`: one sheet per 1,048,575 rows. `parquet`: Snappy compression, decimals as strings.',
})
export type ExportFormat = z.infer<typeof ExportFormat>

/** Selects single records of a studio table. */
export const TableRowsQuery = z
  .strictObject({
    table: z.string().min(1).max(100).meta({ description: 'Slug of the table.' }),
    filter: z.record(z.string(), z.unknown()).default({}).meta({
      description: 'Conditions on fields, in the format of the filter of `GET /tables/:slug/records`.',
    }),
  })
  .meta({ id: 'TableRowsQuery', example: { table: 'assets', filter: { status: 'in_use' } } })
export type TableRowsQuery = z.infer<typeof TableRowsQuery>

/** Source of an export's rows. */
export const ExportSource = z
  .union([
    z.strictObject({ query: AnalyticsQuery }),
    z.strictObject({ facts: FactRowsQuery }),
    z.strictObject({ records: TableRowsQuery }),
    z.strictObject({
      report: idSchema('report'),
      parameters: z.record(z.string().max(100), JsonValue).default({}),
    }),
  ])
  .meta({
    id: 'ExportSource',
    description:
      'Exactly one of: the result of a query, the facts of a dataset, the records of a table, or the result of a ' +
      'report.',
  })
export type ExportSource = z.infer<typeof ExportSource>

const choices = {
  name: Name.optional().meta({
    description: 'Name of the file. Default: the name of the source of the rows.',
  }),
  format: ExportFormat.default('csv'),
  escapeFormulas: z
    .boolean()
    .default(true)
    .meta({
      description:
        'CSV only: puts an apostrophe in front of texts that a spreadsheet would interpret as a formula. Set it to ' +
        '`false` only for files that are read by programs.',
    }),
  delimiter: CsvDelimiter.default(','),
  bom: z.boolean().default(false).meta({ description: csvBomDescription }),
}

export const NewExport = z.strictObject({ ...choices, source: ExportSource }).meta({
  id: 'NewExport',
  example: {
    name: 'Incidents of the month',
    format: 'xlsx',
    source: { facts: { dataset: 'incidents', range: { last: 1, unit: 'month' } } },
  },
})
export type NewExport = z.infer<typeof NewExport>

export const ReportExport = z
  .strictObject({ ...choices, parameters: z.record(z.string().max(100), JsonValue).default({}) })
  .meta({ id: 'ReportExport', example: { format: 'parquet', parameters: {} } })

const exportStatuses = ['pending', 'completed', 'failed', 'cancelled', 'expired'] as const
export const ExportStatus = z.enum(exportStatuses).meta({
  description: '`expired`: the retention period is over and the file has been deleted.',
})

/** The file of a completed export. */
export const ExportFile = z
  .object({
    name: z.string(),
    contentType: z.string(),
    rows: z.int().min(0),
    bytes: z.int().min(0),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .meta({ description: 'SHA-256 of the whole file, in hexadecimal.' }),
    columns: z.array(ResultColumn.pick({ name: true, type: true })),
    dataAsOf: At,
    warnings: z.array(z.string()).meta({ description: 'Values that could not be written unchanged.' }),
  })
  .meta({ id: 'ExportFile' })
export type ExportFile = z.infer<typeof ExportFile>

/** An export as contained in events. */
export const ExportState = z.object({
  id: idSchema('export'),
  name: z.string(),
  format: ExportFormat,
  escapeFormulas: z.boolean(),
  delimiter: CsvDelimiter.default(','),
  bom: z.boolean().default(false),
  source: ExportSource,
  status: ExportStatus,
  ownerId: z
    .string()
    .meta({ description: 'The user whose rights and row rules apply when the rows are read.' }),
  file: ExportFile.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  endedAt: At.nullable(),
  /** When the file is deleted. */
  expiresAt: At.nullable(),
  createdAt: At,
  updatedAt: At,
})
export type ExportState = z.infer<typeof ExportState>

/** Progress of the export file. */
export const ExportProgress = z
  .object({
    rows: z.int().min(0),
    bytes: z.int().min(0),
    parts: z
      .int()
      .min(0)
      .meta({ description: 'Number of finished parts. After a crash, the export resumes from them.' }),
    attempts: z.int().min(0).meta({ description: 'Number of failed attempts since the last finished part.' }),
  })
  .meta({ id: 'ExportProgress' })
export type ExportProgress = z.infer<typeof ExportProgress>

export const Export = ExportState.extend({
  progress: ExportProgress,
  version: z.int().min(1),
}).meta({ id: 'Export' })
export type Export = z.infer<typeof Export>

const maxLinkSeconds = 7 * 86_400

export const DownloadQuery = z.object({
  expiresInSeconds: z.coerce
    .number()
    .int()
    .min(60)
    .max(maxLinkSeconds)
    .default(3_600)
    .meta({ description: 'Validity of the URL in seconds. The URL never outlives the file.' }),
})

/** A URL that downloads the file without a login. */
export const Download = z
  .object({
    linkId: idSchema('exportLink'),
    url: z
      .string()
      .meta({ description: 'Anyone with this URL can download the file. Keep it as secret as the file.' }),
    expiresAt: At,
    fileName: z.string(),
    contentType: z.string(),
    bytes: z.int().min(0),
    sha256: z.string(),
  })
  .meta({ id: 'Download' })
export type Download = z.infer<typeof Download>

/** A download URL that was issued. */
export const ExportLink = z
  .object({
    id: idSchema('exportLink'),
    exportId: idSchema('export'),
    createdBy: z.string(),
    createdAt: At,
    expiresAt: At,
    revokedAt: At.nullable(),
    downloads: z.int().min(0).meta({ description: 'Number of downloads through this URL.' }),
    lastUsedAt: At.nullable(),
  })
  .meta({ id: 'ExportLink' })
export type ExportLink = z.infer<typeof ExportLink>

export const exportEvents = {
  'export.created': resourceEvent(ExportState, 'An export was requested.'),
  'export.completed': resourceEvent(ExportState, 'The file of an export is whole and can be downloaded.'),
  'export.failed': resourceEvent(ExportState, 'An export could not be made; its error says why.'),
  'export.cancelled': resourceEvent(ExportState, 'An export was cancelled before it was whole.'),
  'export.expired': resourceEvent(ExportState, 'The file of an export was kept for its time and is gone.'),
  'export.deleted': resourceEvent(ExportState, 'An export was deleted with its file.'),
} satisfies Record<string, EventDefinition>
