import { z } from 'zod'
import { TimeZoneName } from '../core/time-zone.js'
import { TableSlug } from './studio-columns.js'

const At = z.iso.datetime({ precision: 3 })

/** A record as returned by the API: its columns by name, in addition to these fields. */
export const StudioRecord = z
  .looseObject({
    id: z.string(),
    version: z.int().min(1),
    createdAt: At.optional(),
    updatedAt: At.optional(),
  })
  .meta({
    id: 'Record',
    description: 'A record: these fields and the columns of the table. Decimals and bigints are strings.',
    example: {
      id: 'rec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      version: 1,
      createdAt: '2026-03-02T10:00:00.000Z',
      updatedAt: '2026-03-02T10:00:00.000Z',
      serial_number: 'A-17',
      price: '12.50',
    },
  })
export type StudioRecord = z.infer<typeof StudioRecord>

/** Columns by name; validated against the table's definition. */
export const RecordBody = z
  .record(z.string(), z.unknown())
  .meta({ id: 'RecordBody', example: { serial_number: 'A-17', price: '12.50' } })

/** Validated against the definition of its table, which is not known here. */
const RecordFilter = z.record(z.string(), z.unknown()).meta({
  id: 'RecordFilter',
  description:
    'Conditions on fields, all of which must hold; `or` contains a list of filters, of which at least one must ' +
    'hold. Operators: `in`, `nin`, `ne`, `gt`, `gte`, `lt`, `lte`, `exists`, `contains`, `starts_with`, and ' +
    '`matches` and `matches_start`, which ignore case and accents. A dotted path refers to a value within a JSON ' +
    'column.',
  example: { status: 'new', or: [{ price: { gte: '10.00' } }, { 'extra.vip': true }] },
})

/** The rows of a table that members of a role may read and write; all rows if a filter is absent. */
export const RowRule = z
  .strictObject({
    role: z.string().min(1).max(100).meta({ description: 'Name of a role of the workspace.' }),
    read: RecordFilter.nullable().default(null),
    write: RecordFilter.nullable().default(null),
  })
  .meta({
    id: 'RowRule',
    description:
      'Filters combined by AND with every read and write of the table by members of the role. `$user.id`, ' +
      '`$user.email`, `$user.name` and `$actor.id` stand for the caller.',
    example: { role: 'agent', read: { owner: '$user.id' }, write: { owner: '$user.id' } },
  })

const maxRecords = { bulk: 1_000, changed: 10_000 }
const Bulk = z.array(RecordBody).min(1).max(maxRecords.bulk)

const drill = { serial_number: 'A-17', price: '12.50' }
export const BulkCreate = z
  .strictObject({ records: Bulk })
  .meta({ id: 'BulkCreate', example: { records: [drill, { serial_number: 'A-18', price: '7.00' }] } })
export const BulkUpsert = z
  .strictObject({
    on: z.array(z.string()).min(1).max(16).meta({ description: 'Columns that are unique in combination.' }),
    records: Bulk,
  })
  .meta({ id: 'BulkUpsert', example: { on: ['serial_number'], records: [drill] } })

const matching = {
  filter: RecordFilter,
  timeZone: TimeZoneName.optional().meta({
    description:
      'Time zone that determines when a date begins that is compared with a timestamp in the filter, as an IANA ' +
      'name. Default: UTC.',
  }),
  limit: z
    .int()
    .min(1)
    .max(maxRecords.changed)
    .default(maxRecords.bulk)
    .meta({ description: 'Maximum number of records. If more records match, none is changed.' }),
  dryRun: z
    .boolean()
    .default(false)
    .meta({ description: 'Performs the whole request, returns its result and undoes it.' }),
}
export const BulkUpdate = z.strictObject({ ...matching, set: RecordBody }).meta({
  id: 'BulkUpdate',
  example: { filter: { serial_number: { starts_with: 'A-' } }, set: { price: '11.00' }, dryRun: true },
})
export const BulkDelete = z
  .strictObject(matching)
  .meta({ id: 'BulkDelete', example: { filter: { price: { gte: '100.00' } }, limit: 10 } })

export const BulkCreated = z
  .strictObject({ count: z.int(), records: z.array(StudioRecord) })
  .meta({ id: 'BulkCreated' })
export const BulkUpserted = z
  .strictObject({ created: z.int(), updated: z.int(), records: z.array(StudioRecord) })
  .meta({ id: 'BulkUpserted' })
export const BulkChanged = z
  .strictObject({ count: z.int(), ids: z.array(z.string()), dryRun: z.boolean() })
  .meta({ id: 'BulkChanged' })

const Version = z.int().min(1).optional().meta({ description: 'Version that the record must have.' })
const RecordId = z
  .string()
  .min(1)
  .max(200)
  .meta({ description: 'Id of a record, or `$as:name` for a record that this batch creates.' })

export const RecordOperation = z
  .discriminatedUnion('op', [
    z.strictObject({
      op: z.literal('create'),
      table: TableSlug,
      data: RecordBody,
      as: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .meta({ description: 'Name by which later operations refer to the record, as `{"$as": name}`.' }),
    }),
    z.strictObject({
      op: z.literal('update'),
      table: TableSlug,
      id: RecordId,
      data: RecordBody,
      version: Version,
    }),
    z.strictObject({ op: z.literal('delete'), table: TableSlug, id: RecordId, version: Version }),
  ])
  .meta({ id: 'RecordOperation' })
export type RecordOperation = z.infer<typeof RecordOperation>

export const RecordBatch = z
  .strictObject({
    operations: z.array(RecordOperation).min(1).max(maxRecords.bulk),
    dryRun: z.boolean().default(false),
  })
  .meta({
    id: 'RecordBatch',
    example: {
      operations: [
        { op: 'create', table: 'sites', as: 'site', data: { name: 'Berlin' } },
        { op: 'create', table: 'assets', data: { name: 'Drill', site: { $as: 'site' } } },
      ],
    },
  })
export type RecordBatch = z.infer<typeof RecordBatch>

export const RecordBatchResult = z
  .strictObject({
    results: z.array(
      z.strictObject({
        op: z.enum(['create', 'update', 'delete']),
        table: z.string(),
        id: z.string(),
        record: StudioRecord.nullable(),
      }),
    ),
    dryRun: z.boolean(),
  })
  .meta({ id: 'RecordBatchResult' })

/** Not the component of request bodies: for a named record type, client generators lose that `null` is allowed too. */
const RecordState = z.record(z.string(), z.unknown())

/** One change of a record, as stored in the journal. */
export const RecordChange = z
  .strictObject({
    id: z.string().meta({ description: 'Id of the event.' }),
    type: z.enum(['record.created', 'record.updated', 'record.deleted']),
    at: At,
    actor: z.strictObject({ id: z.string(), name: z.string(), type: z.string() }),
    requestId: z.string().nullable(),
    changes: z.array(z.string()),
    before: RecordState.nullable(),
    after: RecordState.nullable(),
  })
  .meta({ id: 'RecordChange' })
export type RecordChange = z.infer<typeof RecordChange>

const importFormats = ['csv', 'ndjson'] as const
export const ImportFormat = z.enum(importFormats)
export type ImportFormat = z.infer<typeof ImportFormat>

/** The line on which a rejected row begins, counted from 1, and why it was rejected. */
export const RefusedRow = z
  .strictObject({ line: z.int(), path: z.string(), message: z.string() })
  .meta({ id: 'RefusedRow' })
export type RefusedRow = z.infer<typeof RefusedRow>

export const RecordImport = z
  .strictObject({
    id: z.string(),
    table: z.string(),
    format: ImportFormat,
    status: z.enum(['uploading', 'pending', 'running', 'completed', 'failed', 'cancelled']).meta({
      description: '`completed`: the whole file was read, and at least part of it was written.',
    }),
    bytes: z.int(),
    bytesDone: z.int(),
    written: z.int().meta({ description: 'Number of records that were created, or updated by `on`.' }),
    refused: z.int().meta({ description: 'Number of rows that were not written.' }),
    refusedRows: z.array(RefusedRow).meta({
      description: 'First 1,000 problems of refused rows; a row with several problems has several entries.',
    }),
    error: z.string().nullable(),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'RecordImport' })
export type RecordImport = z.infer<typeof RecordImport>
