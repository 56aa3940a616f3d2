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
        'The newest first unless `sort` says otherwise. A filter and sort that a declared index serves stay fast however many records there are; of a table of more than 50,000 records others are refused, with the index that is missing, unless `slow=true`. A page of large records ends with fewer than `limit`, where it has some 8 MiB.',
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
        'Its columns, or those of `fields`, with what `expand` names in it. With `asOf` as it was then.',
      query: z.object({ ...ShownFields, asOf: ListFilters.shape.asOf }),
      changesUnversioned: (record) => !records.isSettled(record),
      handler: ({ params: { slug, id }, query: { asOf, ...query }, meta }) =>
        asOf === undefined ? records.get(slug, id, query, meta) : past.get(slug, id, asOf, meta),
    }),

    route.update({
      summary: 'Update a record',
      description: 'Emits `record.updated`, or nothing where nothing changes.',
      body: RecordBody,
      errors: ['conflict', 'forbidden'],
      handler: ({ params, body, meta }) => records.update(params.slug, params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a record',
      description: 'Emits `record.deleted`, also for what the references to it delete or change.',
      errors: ['conflict', 'forbidden'],
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
      handler: ({ params: { slug, id }, query: { limit, after }, binding, meta }) =>
        past.history(slug, id, { limit, after, binding }, meta),
    }),
  ]
}
