import { ApplyMigration, DryRun, Migration } from '@opsplane/contracts'
import { defineResource, type Route } from '@opsplane/http'
import type { MigrationService } from './migration-service.js'

export const tag = 'Migrations'

export const route = defineResource({
  name: 'Migration',
  path: '/migrations',
  tag,
  read: 'migrations:read',
  write: 'migrations:write',
  response: Migration,
})
const running = ['forbidden', 'conflict', 'invalid_state_transition'] as const

/** Routes that run one migration: apply, roll back and dry run. */
export const runRoutes = (service: MigrationService): Route[] => [
  route.action('apply', {
    summary: 'Apply a migration',
    description:
      'Applies the migration in one transaction. Each environment applies one migration at a time, in order. New ' +
      'tables get the standard columns and history of every table. Emits `migration.applied` and `table.*`, or ' +
      '`migration.failed`, and `record.*` for every row that it changes.',
    body: ApplyMigration,
    waits: true,
    idempotency: 'claim',
    errors: running,
    handler: ({ params, body, meta }) => service.apply(params.id, body.timeoutMs, meta),
  }),

  route.action('rollback', {
    operationId: 'rollBackMigration',
    summary: 'Roll back a migration',
    description:
      'Runs the `down` SQL of the migration; only the last applied migration can be rolled back. Emits ' +
      '`migration.rolled_back` and `table.*`.',
    body: ApplyMigration,
    waits: true,
    idempotency: 'claim',
    errors: running,
    handler: ({ params, body, meta }) => service.rollBack(params.id, body.timeoutMs, meta),
  }),

  route.action('dry-run', {
    summary: 'Dry-run a migration',
    description:
      'Runs the migration and rolls it back. Returns its locks, the number of rows it changes, and the affected ' +
      'tables.',
    body: ApplyMigration,
    response: DryRun,
    waits: true,
    errors: [...running, 'precondition_failed'],
    idempotency: 'none',
    handler: ({ params, body, meta }) => service.dryRun(params.id, body.timeoutMs, meta),
  }),
]
