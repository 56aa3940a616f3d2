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
      'In one transaction, one migration at a time in each environment, and in their order. Tables it makes get the ' +
      'columns and the history every table has. Emits `migration.applied` and `table.*`, or `migration.failed`, and ' +
      '`record.*` for every row that it changes.',
    body: ApplyMigration,
    waits: true,
    idempotency: 'claim',
    errors: running,
    handler: ({ params, body, meta }) => service.apply(params.id, body.timeoutMs, meta),
  }),

  route.action('rollback', {
    operationId: 'rollBackMigration',
    summary: 'Roll a migration back',
    description:
      'By its `down`; only the last one that is applied. Emits `migration.rolled_back` and `table.*`.',
    body: ApplyMigration,
    waits: true,
    idempotency: 'claim',
    errors: running,
    handler: ({ params, body, meta }) => service.rollBack(params.id, body.timeoutMs, meta),
  }),

  route.action('dry-run', {
    summary: 'Try a migration',
    description: 'Runs it and undoes it: what it locks, how many rows it changes, and which tables.',
    body: ApplyMigration,
    response: DryRun,
    waits: true,
    errors: [...running, 'precondition_failed'],
    idempotency: 'none',
    handler: ({ params, body, meta }) => service.dryRun(params.id, body.timeoutMs, meta),
  }),
]
