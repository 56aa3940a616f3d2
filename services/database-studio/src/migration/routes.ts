import {
  Drift,
  MigrationOrder,
  MigrationPatch,
  MigrationStatus,
  NewMigration,
  OrderedMigrations,
  PromoteMigrations,
  Promotion,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { migrations as table } from '../sql/tables.js'
import { computeDrift } from './drift.js'
import type { MigrationParts, MigrationService } from './migration-service.js'
import { promote } from './promote.js'
import { route, runRoutes, tag } from './run-routes.js'

export function migrationRoutes(
  ctx: ServiceContext,
  { plane, requireEnvironment, refuseRuled }: MigrationParts,
  service: MigrationService,
): Route[] {
  const { database } = ctx
  const { migrations } = service
  return [
    route.list({
      summary: 'List migrations',
      description: 'By default in the order in which migrations are applied.',
      query: z.object({ status: MigrationStatus.optional() }),
      sorts: ['number'],
      handler: pageReader(ctx, {
        table,
        present: migrations.present,
        select: ({ query: { status } }) => ({ where: [status && eq(table.status, status)] }),
      }),
    }),

    route.create({
      summary: 'Create a migration',
      description:
        'Accepts DDL of tables, indexes and types, and INSERT, UPDATE and DELETE, with all names unqualified by a ' +
        'schema; anything else returns 422. The migration is not applied yet. Emits `migration.created`.',
      body: NewMigration,
      handler: ({ body, meta }) => service.create(body, meta),
    }),

    defineRoute({
      operationId: 'getDrift',
      method: 'get',
      path: '/migrations/drift',
      summary: 'Get the schema drift',
      description:
        'Returns objects of the database that neither definitions nor migrations explain, and objects that are ' +
        'missing from it.',
      tag,
      scope: 'migrations:read',
      response: Drift,
      handler: async ({ meta }) => computeDrift(database, await plane.space(meta.tenant)),
    }),

    defineRoute({
      operationId: 'promoteMigrations',
      method: 'post',
      path: '/migrations/promote',
      summary: 'Promote migrations from another environment',
      description:
        'Applies in the environment of the request, in their order, the migrations that are applied in `from` but ' +
        'not here, including table changes made with `PATCH /tables`. Each migration is one transaction; the first ' +
        'failure stops the promotion, and migrations applied before it remain. A `dryRun` reports failures in ' +
        'advance. Migrations that are pending only here wait until after them.',
      tag,
      scope: 'migrations:write',
      body: PromoteMigrations,
      response: Promotion,
      waits: true,
      idempotency: 'claim',
      errors: ['forbidden', 'conflict'],
      handler: async ({ body, meta }) => {
        await refuseRuled(meta)
        await requireEnvironment(meta, body.from, '/from')
        const promotedMigrations = await promote(service, database, body, meta)
        return {
          migrations: promotedMigrations.map(({ number, name, checksum, status }) => ({
            number,
            name,
            checksum,
            status,
          })),
        }
      },
    }),

    route.get({
      summary: 'Get a migration',
      description:
        'Returns the migration with its SQL in both directions, its position in the order and its status.',
      handler: ({ params, meta }) => migrations.get(params.id, meta.tenant),
    }),

    route.update({
      summary: 'Update an unapplied migration',
      description: 'The migration becomes pending, even if it had failed. Emits `migration.updated`.',
      body: MigrationPatch,
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => service.edit(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'reorderMigrations',
      method: 'put',
      path: '/migrations/order',
      summary: 'Reorder unapplied migrations',
      description:
        'The listed migrations come first; the others keep their order. From the first moved migration on, each ' +
        'migration is assigned a new number and emits `migration.updated`.',
      tag,
      scope: 'migrations:write',
      body: MigrationOrder,
      response: OrderedMigrations,
      errors: ['conflict', 'version_conflict'],
      handler: async ({ body, meta }) => ({ migrations: await service.reorder(body.ids, meta) }),
    }),

    route.delete({
      summary: 'Delete an unapplied migration',
      description: 'Emits `migration.deleted`.',
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, meta }) => service.remove(params.id, meta),
    }),
    ...runRoutes(service),
  ]
}
