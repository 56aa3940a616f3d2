import { ApplyMigration, DryRun, Migration } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { MigrationService } from './migration-service.js'

export const tag = 'Migrations'
const running = [
  'not_found',
  'forbidden',
  'conflict',
  'invalid_state_transition',
  'precondition_failed',
  'upstream_timeout',
] as const

/** What runs one migration: forwards, back, or without effect. */
export const runRoutes = (service: MigrationService): Route[] => [
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
