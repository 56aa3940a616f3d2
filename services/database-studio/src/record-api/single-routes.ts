import { RecordBody, RecordChange, StudioRecord } from '@opsplane/contracts'
import { defineList, defineResource, type Route } from '@opsplane/http'
import { z } from 'zod'
import { ListFilters, ShownFields } from './record-query.js'
import type { RecordServices } from './record-services.js'

const tag = 'Records'
const path = '/tables/:slug/records'

const route = defineResource({
  name: 'Record',
  path: path,
  tag,
  read: 'records:read',
  write: 'records:write',
  response: StudioRecord,
})

/** Routes of single records and of lists. */
export function singleRoutes({ records, list, past }: RecordServices): Route[] {
  return [
    route.list({
      summary: 'List records',
      description:
        'Newest first, unless `sort` specifies another order. Filters and sorts served by a declared index stay fast ' +
        'regardless of the number of records; for a table of more than 50,000 records, others are refused and the ' +
        'error names the missing index, unless `slow=true`. A page of large records can contain fewer than `limit` ' +
        'records, because it ends at about 8 MiB.',
      sorts: [],
      query: ListFilters,
      handler: ({ params, query, binding, meta }) =>
        query.asOf === undefined
          ? list(params.slug, query, binding, meta)
          : past.list(params.slug, { ...query, asOf: query.asOf }, binding, meta),
    }),

    route.create({
      summary: 'Create a record',
      description: 'Emits `record.created`.',
      body: RecordBody,
      errors: ['conflict', 'forbidden', 'quota_exceeded'],
      handler: ({ params, body, meta }) => records.create(params.slug, body, meta),
    }),

    route.get({
      summary: 'Get a record',
      description:
        'Returns the columns of the record, or those in `fields`, with the references in `expand` replaced by the ' +
        'records. With `asOf`, returns the state at that instant.',
      query: z.object({ ...ShownFields, asOf: ListFilters.shape.asOf }),
      changesUnversioned: (record) => !records.isSettled(record),
      handler: ({ params: { slug, id }, query: { asOf, ...query }, meta }) =>
        asOf === undefined ? records.get(slug, id, query, meta) : past.get(slug, id, asOf, meta),
    }),

    route.update({
      summary: 'Update a record',
      description: 'Emits `record.updated`, or no event if nothing changes.',
      body: RecordBody,
      errors: ['conflict', 'forbidden'],
      handler: ({ params, body, meta }) => records.update(params.slug, params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a record',
      description:
        'Emits `record.deleted`, and also events for records that are deleted or changed because they refer to the ' +
        'deleted record.',
      errors: ['conflict', 'forbidden'],
      handler: ({ params, meta }) => records.delete(params.slug, params.id, meta),
    }),

    defineList({
      operationId: 'listRecordChanges',
      path: `${path}/:id/history`,
      summary: 'List the changes of a record',
      description: 'Latest change first. Also available for deleted records.',
      tag,
      scope: 'records:read',
      sorts: [],
      response: RecordChange,
      handler: ({ params: { slug, id }, query: { limit, after }, binding, meta }) =>
        past.history(slug, id, { limit, after, binding }, meta),
    }),
  ]
}
