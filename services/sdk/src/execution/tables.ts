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

/** An execution that has not ended is due from its beginning, unless it is leased. */
export const dueExecutions = dueTable({
  table: 'executions',
  key: 'id',
  dueAt: 'started_at',
  waiting: 'completed_at is null',
  fairKey: 'workspace_id',
})

/** Draws the positions of changes; one after the other over all sessions. */
export const executionChanges = pgSequence('execution_changes')

/** One row for each execution, with all that is shown of it. Partitioned by the month in the id: see ADR 069. */
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
    /** Whether its values and logs are left out, beyond the quota of traces. */
    omitted: boolean('omitted').notNull().default(false),
    /** Whether something of the input is not shown, so that it cannot be replayed as it is. */
    inputMasked: boolean('input_masked').notNull().default(false),
    output: json('output'),
    error: json('error'),
    logs: json('logs'),
    durationMs: integer('duration_ms'),
    memoryPeakMb: integer('memory_peak_mb'),
    startedAt: instant('started_at').notNull(),
    completedAt: instant('completed_at'),
    replayOf: text('replay_of'),
    /** Bounds what a page of a list reads. */
    bytes: integer('bytes').notNull(),
    /** What a replica that takes it over starts it with; null once it has ended, and where none may. */
    plan: json('plan'),
    depth: smallint('depth').notNull(),
    requestId: text('request_id'),
    /** Of its end; null before: see ADR 086. */
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

/** Records that triggered an execution, or that it touched. Partitioned like it. */
export const executionRecords = pgTable(
  'execution_records',
  {
    executionId: text('execution_id').notNull(),
    recordId: text('record_id').notNull(),
    /** The slug of its table, or its kind. */
    tableName: text('table_name').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** Whether it is one of those that led to the execution; otherwise the execution has touched it. */
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

/** Results of executions that are shown masked, as their callers get them: sealed, and kept as long as a key may ask for them. */
export const executionResults = pgTable('execution_results', {
  executionId: text('execution_id').primaryKey(),
  sealed: text('sealed').notNull(),
})

/** What led to executions, so that it leads to none again: keys of requests, and events with the artifacts they trigger. */
export const executionKeys = pgTable(
  'execution_keys',
  {
    key: text('key').primaryKey(),
    executionId: text('execution_id').notNull(),
    /** Of the request; null of what is none. */
    fingerprint: text('fingerprint'),
  },
  (table) => [index('execution_keys_execution_idx').on(table.executionId)],
)
