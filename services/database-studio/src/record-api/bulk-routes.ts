import {
  BulkChanged,
  BulkCreate,
  BulkCreated,
  BulkDelete,
  BulkUpdate,
  BulkUpsert,
  BulkUpserted,
  RecordBatch,
  RecordBatchResult,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { RecordServices } from './record-services.js'

const tag = 'Records'
const path = '/tables/:slug/records/bulk'
const bodyLimitBytes = 16 * 1024 * 1024
const errors = ['not_found', 'conflict', 'forbidden', 'quota_exceeded'] as const
const common = { tag, scope: 'records:write', bodyLimitBytes, errors } as const

/** Routes that write many records in one request: all of them or none. */
export function bulkRoutes({ bulk, batch }: RecordServices): Route[] {
  return [
    defineRoute({
      ...common,
      operationId: 'createRecords',
      method: 'post',
      path,
      summary: 'Create up to 1,000 records',
      description: 'Creates all records or none, in one statement. Emits `record.created` for each record.',
      body: BulkCreate,
      response: BulkCreated,
      status: 201,
      handler: ({ params, body, meta }) => bulk.create(params.slug, body.records, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'upsertRecords',
      method: 'put',
      path,
      summary: 'Create or update records',
      description:
        'Existing records are identified by the columns in `on`, which must be unique together. Writes all records ' +
        'or none.',
      body: BulkUpsert,
      response: BulkUpserted,
      handler: ({ params, body, meta }) => bulk.upsert(params.slug, body, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'updateRecords',
      method: 'patch',
      path,
      summary: 'Update the records that match a filter',
      description:
        'Updates no record if more than `limit` match. Emits `record.updated` for each changed record.',
      body: BulkUpdate,
      response: BulkChanged,
      handler: ({ params, body, meta }) => bulk.update(params.slug, body, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'deleteRecords',
      method: 'delete',
      path,
      summary: 'Delete the records that match a filter',
      description: 'Deletes no record if more than `limit` match. Emits `record.deleted` for each record.',
      body: BulkDelete,
      response: BulkChanged,
      handler: ({ params, body, meta }) => bulk.delete(params.slug, body, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'runRecordBatch',
      method: 'post',
      path: '/tables/batch',
      summary: 'Create, update and delete records of several tables',
      description:
        'Runs the operations in order and in one transaction: all of them take effect, or none. With `dryRun`, none ' +
        'takes effect, and the response is the one that would have been returned.',
      body: RecordBatch,
      response: RecordBatchResult,
      handler: ({ body, meta }) => batch(body, meta),
    }),
  ]
}
