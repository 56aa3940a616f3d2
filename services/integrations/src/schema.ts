import {
  dueIndexes,
  dueTable,
  leaseColumns,
  readModelTable,
  retryColumns,
  stateText,
} from '@opsplane/postgres'
import {
  boolean,
  doublePrecision,
  index,
  integer,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

export const connectors = readModelTable(
  'connectors',
  { name: stateText('name', 'name'), kind: stateText('kind', 'kind'), status: stateText('status', 'status') },
  (table) => [
    uniqueIndex('connectors_name_key').on(table.workspaceId, table.environment, table.name),
    index('connectors_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

/** Due work: periodic checks of connectors that are in use. */
export const dueChecks = dueTable({
  table: 'connector_health',
  key: 'connector_id',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
  fairKey: 'workspace_id',
})

/** The last observed health of a connector. Stored separately because it changes with every use. */
export const connectorHealth = pgTable(
  'connector_health',
  {
    connectorId: text('connector_id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** Epoch of the observed configuration. */
    epoch: integer('epoch').notNull(),
    /** Consecutive failures. */
    misses: integer('misses').notNull(),
    lastUsedAt: timestamp('last_used_at', { withTimezone: true, mode: 'string' }),
    /** Time of the next check; `null` while the connector is not in use. */
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }),
    ...leaseColumns(),
  },
  () => dueIndexes(dueChecks),
)

/** Due work: invocations whose retention has ended. */
export const expiredInvocations = dueTable({
  table: 'connector_invocations',
  key: 'id',
  dueAt: 'expires_at',
  waiting: 'true',
})

/** The log of invocations, redacted. */
export const connectorInvocations = pgTable(
  'connector_invocations',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    connectorId: text('connector_id').notNull(),
    action: text('action').notNull(),
    status: text('status').notNull(),
    trigger: text('trigger').notNull(),
    run: text('run'),
    callerId: text('caller_id').notNull(),
    attempts: integer('attempts').notNull(),
    durationMs: doublePrecision('duration_ms').notNull(),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    requestId: text('request_id'),
    request: text('request').notNull(),
    response: text('response'),
    truncated: boolean('truncated').notNull(),
    createdAt: text('created_at').notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true, mode: 'string' }).notNull(),
    ...retryColumns(),
  },
  (table) => [
    index('connector_invocations_list_idx').on(table.connectorId, table.id),
    ...dueIndexes(expiredInvocations),
  ],
)
