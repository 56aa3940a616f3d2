import { NewTable, Table, TablePatch } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { tables as rows } from './rows.js'
import type { Tables } from './tables.js'

const tag = 'Tables'

export function tableRoutes({ database: { db }, cursors }: ServiceContext, tables: Tables): Route[] {
  return [
    defineList({
      operationId: 'listTables',
      path: '/tables',
      summary: 'List tables',
      description: 'With their columns, indexes and rules.',
      tag,
      scope: 'tables:read',
      query: z.object({
        trash: z.enum(['true', 'false']).optional().meta({ description: 'Those that were dropped instead.' }),
      }),
      response: Table,
      handler: ({ query: { limit, after, sort, trash }, binding, meta: { tenant } }) =>
        listPage(db, {
          table: rows,
          tenant,
          where: [trash === 'true' ? sql`${rows.purgeAt} is not null` : sql`${rows.purgeAt} is null`],
          sort: { column: rows.createdAt, direction: sort.direction },
          ...{ limit, after, binding, cursors, asOf: undefined, present: tables.aggregate.present },
        }),
    }),

    defineRoute({
      operationId: 'createTable',
      method: 'post',
      path: '/tables',
      summary: 'Create a table',
      description: 'Emits `table.created`. From then on every change of its records is an event.',
      tag,
      scope: 'tables:write',
      waits: true,
      body: NewTable,
      response: Table,
      status: 201,
      errors: ['conflict', 'quota_exceeded'],
      handler: ({ body, meta }) => tables.create(body, meta),
    }),

    defineRoute({
      operationId: 'getTable',
      method: 'get',
      path: '/tables/:slug',
      summary: 'Get the definition of a table',
      description: 'With its columns, indexes, unique and check constraints, and row rules.',
      tag,
      scope: 'tables:read',
      response: Table,
      errors: ['not_found'],
      handler: ({ params, meta }) => tables.get(params.slug, meta),
    }),

    defineRoute({
      operationId: 'updateTable',
      method: 'patch',
      path: '/tables/:slug',
      summary: 'Change a table',
      description:
        'All of it or nothing. What records stand against is a conflict that says how many there are, with examples; what loses values or locks a large table takes `force`. Emits `table.updated`.',
      tag,
      scope: 'tables:write',
      waits: true,
      body: TablePatch,
      response: Table,
      errors: ['not_found', 'conflict', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => tables.change(params.slug, body, meta),
    }),

    defineRoute({
      operationId: 'deleteTable',
      method: 'delete',
      path: '/tables/:slug',
      summary: 'Drop a table',
      description: 'With its records it can be restored for 7 days. Emits `table.deleted`.',
      tag,
      scope: 'tables:write',
      waits: true,
      response: z.void(),
      status: 204,
      errors: ['not_found', 'conflict', 'precondition_failed', 'version_conflict'],
      handler: ({ params, meta }) => tables.remove(params.slug, meta),
    }),

    defineRoute({
      operationId: 'restoreTable',
      method: 'post',
      path: '/tables/:slug/restore',
      summary: 'Restore a dropped table',
      description: 'By its id, or its slug for the one that was dropped last. Emits `table.restored`.',
      tag,
      scope: 'tables:write',
      waits: true,
      response: Table,
      errors: ['not_found', 'conflict', 'version_conflict'],
      handler: ({ params, meta }) => tables.restore(params.slug, meta),
    }),
  ]
}
