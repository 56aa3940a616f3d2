import { NewTable, Table, TablePatch } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { tables as rows } from './rows.js'
import type { Tables } from './tables.js'

const route = defineResource({
  name: 'Table',
  path: '/tables',
  key: 'slug',
  tag: 'Tables',
  read: 'tables:read',
  write: 'tables:write',
  response: Table,
})

export function tableRoutes(ctx: ServiceContext, tables: Tables): Route[] {
  return [
    route.list({
      summary: 'List tables',
      description: 'Returns each table with its columns, indexes and rules.',
      query: z.object({
        trash: z.enum(['true', 'false']).optional().meta({ description: 'List dropped tables instead.' }),
      }),
      handler: pageReader(ctx, {
        table: rows,
        present: tables.aggregate.present,
        select: ({ query: { trash } }) => ({
          where: [trash === 'true' ? sql`${rows.purgeAt} is not null` : sql`${rows.purgeAt} is null`],
        }),
      }),
    }),

    route.create({
      summary: 'Create a table',
      description:
        'Emits `table.created`. From then on, every change of a record of the table emits an event.',
      waits: true,
      body: NewTable,
      errors: ['conflict', 'quota_exceeded'],
      handler: ({ body, meta }) => tables.create(body, meta),
    }),

    route.get({
      summary: 'Get the definition of a table',
      description:
        'Returns the table with its columns, indexes, unique and check constraints, and row rules.',
      handler: ({ params, meta }) => tables.get(params.slug, meta),
    }),

    route.update({
      summary: 'Update a table',
      description:
        'Applies all changes or none. A change that existing records violate returns a conflict with their number ' +
        'and examples; a change that loses values or locks a large table requires `force`. Emits `table.updated`.',
      waits: true,
      body: TablePatch,
      errors: ['conflict'],
      handler: ({ params, body, meta }) => tables.change(params.slug, body, meta),
    }),

    route.delete({
      summary: 'Drop a table',
      description: 'The table and its records can be restored for 7 days. Emits `table.deleted`.',
      waits: true,
      errors: ['conflict'],
      handler: ({ params, meta }) => tables.remove(params.slug, meta),
    }),

    route.action('restore', {
      summary: 'Restore a dropped table',
      description:
        'Identifies the table by its id, or by its slug for the most recently dropped table with that slug. Emits ' +
        '`table.restored`.',
      waits: true,
      errors: ['conflict'],
      handler: ({ params, meta }) => tables.restore(params.slug, meta),
    }),
  ]
}
