import { dueIndexes, dueTable, leaseColumns } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  pgSequence,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** An execution that has not ended is due from its start, unless it is leased. */
export const dueExecutions = dueTable({
  table: 'executions',
  key: 'id',
  dueAt: 'started_at',
  waiting: 'completed_at is null',
  fairKey: 'workspace_id',
})

/** Sequence for the positions of changes, ordered across all sessions. */
export const executionChanges = pgSequence('execution_changes')

/** One row for each execution with everything shown of it. Partitioned by the month in the id: see ADR 069. */
export const executions = pgTable(
  'executions',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    artifactId: text('artifact_id').notNull(),
    artifactSlug: text('artifact_slug').notNull(),
    artifactVersion: integer('artifact_version').notNull(),
    artifactType: text('artifact_type').notNull(),
    executionType: text('execution_type').notNull(),
    triggerType: text('trigger_type').notNull(),
    triggerId: text('trigger_id'),
    status: text('status').notNull().default('running'),
    input: json('input').notNull(),
    /** Whether values and logs were not stored because the trace quota was exhausted. */
    omitted: boolean('omitted').notNull().default(false),
    /** Whether parts of the input are masked, so that it cannot be replayed unchanged. */
    inputMasked: boolean('input_masked').notNull().default(false),
    output: json('output'),
    error: json('error'),
    logs: json('logs'),
    durationMs: integer('duration_ms'),
    memoryPeakMb: integer('memory_peak_mb'),
    startedAt: instant('started_at').notNull(),
    completedAt: instant('completed_at'),
    replayOf: text('replay_of'),
    /** Limits the amount a page of a list reads. */
    bytes: integer('bytes').notNull(),
    /** How a replica that takes it over starts it; `null` once it has ended, or if no other replica may start it. */
    plan: json('plan'),
    depth: smallint('depth').notNull(),
    requestId: text('request_id'),
    /** Position of its end in the feed of changes; `null` before: see ADR 086. */
    changePosition: bigint('change_position', { mode: 'number' }),
    ...leaseColumns(),
  },
  (table) => {
    const { workspaceId, environment, artifactId, status, triggerType, id } = table
    return [
      index('executions_list_idx').on(workspaceId, environment, id),
      index('executions_status_idx').on(workspaceId, environment, status, id),
      index('executions_artifact_idx').on(artifactId, id),
      index('executions_failed_idx').on(artifactId, id).where(sql`status in ('failed', 'timeout')`),
      index('executions_replays_idx').on(table.replayOf, id).where(sql`replay_of is not null`),
      index('executions_artifact_type_idx').on(workspaceId, environment, table.artifactType, id),
      index('executions_type_idx').on(workspaceId, environment, table.executionType, id),
      index('executions_trigger_idx').on(workspaceId, environment, triggerType, table.triggerId, id),
      index('executions_changes_idx').on(table.changePosition).where(sql`change_position is not null`),
      index('executions_open_idx').on(table.triggerId).where(sql`completed_at is null`),
      ...dueIndexes(dueExecutions),
    ]
  },
)

/** Records that triggered an execution or were touched by it. Partitioned like executions. */
export const executionRecords = pgTable(
  'execution_records',
  {
    executionId: text('execution_id').notNull(),
    recordId: text('record_id').notNull(),
    /** Slug of the record's table, or its kind. */
    tableName: text('table_name').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** Whether the record triggered the execution; otherwise the execution touched it. */
    triggered: boolean('triggered').notNull().default(false),
  },
  (table) => {
    const { executionId, recordId, tableName, workspaceId, environment } = table
    return [
      primaryKey({ name: 'execution_records_pkey', columns: [executionId, recordId, tableName] }),
      index('execution_records_record_idx').on(workspaceId, environment, recordId, executionId),
      index('execution_records_table_idx').on(workspaceId, environment, tableName, executionId),
    ]
  },
)

/** Sealed results of executions that are shown masked, for their callers. Kept while a key may request them. */
export const executionResults = pgTable('execution_results', {
  executionId: text('execution_id').primaryKey(),
  sealed: text('sealed').notNull(),
})

/**
 * Keys that have led to executions, so that they lead to no second one: idempotency keys of requests, and events with
 * the artifacts they trigger.
 */
export const executionKeys = pgTable(
  'execution_keys',
  {
    key: text('key').primaryKey(),
    executionId: text('execution_id').notNull(),
    /** Fingerprint of the request; `null` if the key is not from a request. */
    fingerprint: text('fingerprint'),
  },
  (table) => [index('execution_keys_execution_idx').on(table.executionId)],
)
