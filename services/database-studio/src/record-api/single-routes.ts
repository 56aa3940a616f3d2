import { RecordBody, RecordChange, StudioRecord } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import { ListFilters, ShownFields } from './record-query.js'
import type { RecordServices } from './record-services.js'

const tag = 'Records'
const path = '/tables/:slug/records'

/** Records one by one, and lists of them. */
export function singleRoutes({ records, list, past }: RecordServices): Route[] {
  return [
    defineList({
      operationId: 'listRecords',
      path,
      summary: 'List records',
      description:
        'The newest first unless `sort` says otherwise. A filter and sort that a declared index serves stay fast however many records there are; of a table of more than 50,000 records others are refused, with the index that is missing, unless `slow=true`. A page of large records ends with fewer than `limit`, where it has some 8 MiB.',
      tag,
      scope: 'records:read',
      sorts: [],
      query: ListFilters,
      response: StudioRecord,
      errors: ['not_found', 'upstream_timeout'],
      handler: ({ params, query, binding, meta }) =>
        query.asOf === undefined
          ? list(params.slug, query, binding, meta)
          : past.list(params.slug, { ...query, asOf: query.asOf }, binding, meta),
    }),

    defineRoute({
      operationId: 'createRecord',
      method: 'post',
      path,
      summary: 'Create a record',
      description: 'Emits `record.created`.',
      tag,
      scope: 'records:write',
      body: RecordBody,
      response: StudioRecord,
      status: 201,
      errors: ['not_found', 'conflict', 'forbidden', 'quota_exceeded'],
      handler: ({ params, body, meta }) => records.create(params.slug, body, meta),
    }),

    defineRoute({
      operationId: 'getRecord',
      method: 'get',
      path: `${path}/:id`,
      summary: 'Get a record',
      description:
        'Its columns, or those of `fields`, with what `expand` names in it. With `asOf` as it was then.',
      tag,
      scope: 'records:read',
      query: z.object({ ...ShownFields, asOf: ListFilters.shape.asOf }),
      response: StudioRecord,
      changesUnversioned: (record) => !records.isSettled(record),
      errors: ['not_found'],
      handler: ({ params: { slug, id }, query: { asOf, ...query }, meta }) =>
        asOf === undefined ? records.get(slug, id, query, meta) : past.get(slug, id, asOf, meta),
    }),

    defineRoute({
      operationId: 'updateRecord',
      method: 'patch',
      path: `${path}/:id`,
      summary: 'Update a record',
      description: 'Emits `record.updated`, or nothing where nothing changes.',
      tag,
      scope: 'records:write',
      body: RecordBody,
      response: StudioRecord,
      errors: ['not_found', 'conflict', 'forbidden', 'precondition_failed'],
      handler: ({ params, body, meta }) => records.update(params.slug, params.id, body, meta),
    }),

    defineRoute({
      operationId: 'deleteRecord',
      method: 'delete',
      path: `${path}/:id`,
      summary: 'Delete a record',
      description: 'Emits `record.deleted`, also for what the references to it delete or change.',
      tag,
      scope: 'records:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'conflict', 'forbidden', 'precondition_failed'],
      handler: ({ params, meta }) => records.delete(params.slug, params.id, meta),
    }),

    defineList({
      operationId: 'listRecordChanges',
      path: `${path}/:id/history`,
      summary: 'List the changes of a record',
      description: 'The last one first, also of a record that is deleted.',
      tag,
      scope: 'records:read',
      sorts: [],
      response: RecordChange,
      errors: ['not_found'],
      handler: ({ params: { slug, id }, query: { limit, after }, binding, meta }) =>
        past.history(slug, id, { limit, after, binding }, meta),
    }),
  ]
}
