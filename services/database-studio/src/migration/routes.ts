import {
  ApplyMigration,
  Drift,
  DryRun,
  Migration,
  MigrationStatus,
  NewMigration,
  PromoteMigrations,
  Promotion,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { migrations as table } from '../sql/tables.js'
import { driftOf } from './drift.js'
import type { MigrationParts, MigrationService } from './migration-service.js'
import { promote } from './promote.js'

const tag = 'Migrations'
const running = [
  'not_found',
  'forbidden',
  'conflict',
  'invalid_state_transition',
  'precondition_failed',
  'upstream_timeout',
] as const

export function migrationRoutes(
  ctx: ServiceContext,
  { plane, requireEnvironment, refuseRuled }: MigrationParts,
  service: MigrationService,
): Route[] {
  const { database, cursors } = ctx
  const { migrations } = service
  return [
    defineList({
      operationId: 'listMigrations',
      path: '/migrations',
      summary: 'List migrations',
      description: 'In the order they are applied in, unless sorted otherwise.',
      tag,
      scope: 'migrations:read',
      query: z.object({ status: MigrationStatus.optional() }),
      sorts: ['number'],
      response: Migration,
      handler: ({ query: { limit, after, sort, status }, binding, meta: { tenant } }) =>
        listPage(database.db, {
          table,
          tenant,
          sort: { column: table.number, direction: sort.direction },
          where: [status && eq(table.status, status)],
          ...{ limit, after, binding, cursors, asOf: undefined, present: migrations.present },
        }),
    }),

    defineRoute({
      operationId: 'createMigration',
      method: 'post',
      path: '/migrations',
      summary: 'Write a migration',
      description:
        'DDL of tables, indexes and types, INSERT, UPDATE and DELETE, all named without their schema; anything else is a 422. ' +
        'Nothing is applied yet. Emits `migration.created`.',
      tag,
      scope: 'migrations:write',
      body: NewMigration,
      response: Migration,
      status: 201,
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
      handler: async ({ meta }) => driftOf(database, await plane.space(meta.tenant)),
    }),

    defineRoute({
      operationId: 'promoteMigrations',
      method: 'post',
      path: '/migrations/promote',
      summary: 'Take over migrations of another environment',
      description:
        'Applies here, in their order, the migrations that are applied in `from` and not here; changes of tables by ' +
        '`PATCH /tables` are among them. Each is a transaction; the first that fails ends it, and what came before stays.',
      tag,
      scope: 'migrations:write',
      body: PromoteMigrations,
      response: Promotion,
      waits: true,
      idempotency: 'claim',
      errors: ['forbidden', 'conflict', 'upstream_timeout'],
      handler: async ({ body, meta }) => {
        await refuseRuled(meta)
        await requireEnvironment(meta, body.from, '/from')
        const taken = await promote(service, database, body, meta)
        return {
          migrations: taken.map(({ number, name, checksum, status }) => ({ number, name, checksum, status })),
        }
      },
    }),

    defineRoute({
      operationId: 'getMigration',
      method: 'get',
      path: '/migrations/:id',
      summary: 'Get a migration',
      tag,
      scope: 'migrations:read',
      response: Migration,
      errors: ['not_found'],
      handler: ({ params, meta }) => migrations.get(params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'deleteMigration',
      method: 'delete',
      path: '/migrations/:id',
      summary: 'Delete a migration that is not applied',
      description: 'Emits `migration.deleted`.',
      tag,
      scope: 'migrations:write',
      response: z.void(),
      status: 204,
      errors: [
        'not_found',
        'conflict',
        'invalid_state_transition',
        'precondition_failed',
        'version_conflict',
      ],
      handler: ({ params, meta }) => service.remove(params.id, meta),
    }),

    defineRoute({
      operationId: 'applyMigration',
      method: 'post',
      path: '/migrations/:id/apply',
      summary: 'Apply a migration',
      description:
        'In one transaction, one migration at a time in each environment, and in their order. Tables it makes get the ' +
        'columns and the history every table has. Emits `migration.applied` and `table.*`, or `migration.failed`, and ' +
        '`record.*` for every row that it changes.',
      tag,
      scope: 'migrations:write',
      body: ApplyMigration,
      response: Migration,
      waits: true,
      idempotency: 'claim',
      errors: running,
      handler: ({ params, body, meta }) => service.apply(params.id, body.timeoutMs, meta),
    }),

    defineRoute({
      operationId: 'rollBackMigration',
      method: 'post',
      path: '/migrations/:id/rollback',
      summary: 'Roll a migration back',
      description:
        'By its `down`; only the last one that is applied. Emits `migration.rolled_back` and `table.*`.',
      tag,
      scope: 'migrations:write',
      body: ApplyMigration,
      response: Migration,
      waits: true,
      idempotency: 'claim',
      errors: running,
      handler: ({ params, body, meta }) => service.rollBack(params.id, body.timeoutMs, meta),
    }),

    defineRoute({
      operationId: 'dryRunMigration',
      method: 'post',
      path: '/migrations/:id/dry-run',
      summary: 'Try a migration',
      description: 'Runs it and undoes it: what it locks, how many rows it changes, and which tables.',
      tag,
      scope: 'migrations:write',
      body: ApplyMigration,
      response: DryRun,
      waits: true,
      errors: running,
      idempotency: 'none',
      handler: ({ params, body, meta }) => service.dryRun(params.id, body.timeoutMs, meta),
    }),
  ]
}
