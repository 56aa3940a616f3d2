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
      description: 'In the order they are applied in, unless sorted otherwise.',
      query: z.object({ status: MigrationStatus.optional() }),
      sorts: ['number'],
      handler: pageReader(ctx, {
        table,
        present: migrations.present,
        select: ({ query: { status } }) => ({ where: [status && eq(table.status, status)] }),
      }),
    }),

    route.create({
      summary: 'Write a migration',
      description:
        'DDL of tables, indexes and types, INSERT, UPDATE and DELETE, all named without their schema; anything else is a 422. ' +
        'Nothing is applied yet. Emits `migration.created`.',
      body: NewMigration,
      handler: ({ body, meta }) => service.create(body, meta),
    }),

    defineRoute({
      operationId: 'getDrift',
      method: 'get',
      path: '/migrations/drift',
      summary: 'Compare the schema with what explains it',
      description:
        'What the database has that neither definitions nor migrations explain, and what it lacks.',
      tag,
      scope: 'migrations:read',
      response: Drift,
      handler: async ({ meta }) => computeDrift(database, await plane.space(meta.tenant)),
    }),

    defineRoute({
      operationId: 'promoteMigrations',
      method: 'post',
      path: '/migrations/promote',
      summary: 'Take over migrations of another environment',
      description:
        'Applies here, in their order, the migrations that are applied in `from` and not here; changes of tables by ' +
        '`PATCH /tables` are among them. Each is a transaction; the first that fails ends it, and what came before stays: a ' +
        '`dryRun` says it beforehand. What is not applied here waits until after them.',
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
      description: 'With its SQL in both directions, its place in the order and its status.',
      handler: ({ params, meta }) => migrations.get(params.id, meta.tenant),
    }),

    route.update({
      summary: 'Edit a migration that is not applied',
      description: 'It is pending then, also where it had failed. Emits `migration.updated`.',
      body: MigrationPatch,
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => service.edit(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'reorderMigrations',
      method: 'put',
      path: '/migrations/order',
      summary: 'Put the migrations that are not applied in an order',
      description:
        'Those that are named come first; the others keep their order. What is behind the first one that moves gets a new number, and emits `migration.updated`.',
      tag,
      scope: 'migrations:write',
      body: MigrationOrder,
      response: OrderedMigrations,
      errors: ['conflict', 'version_conflict'],
      handler: async ({ body, meta }) => ({ migrations: await service.reorder(body.ids, meta) }),
    }),

    route.delete({
      summary: 'Delete a migration that is not applied',
      description: 'Emits `migration.deleted`.',
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, meta }) => service.remove(params.id, meta),
    }),
    ...runRoutes(service),
  ]
}
