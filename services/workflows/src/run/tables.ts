import { dueIndexes, dueTable, leaseColumns } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** A run that has not ended is due at its instant, unless it has a worker. */
export const dueRuns = dueTable({
  table: 'runs',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'ended_at is null',
  fairKey: 'workspace_id',
})

/**
 * One row per run: what lists show, and who works on it. What happened in it is its journal. Partitioned by the month in the
 * id, like its journal: see ADR 064.
 */
export const runs = pgTable(
  'runs',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    workflowId: text('workflow_id').notNull(),
    workflowName: text('workflow_name').notNull(),
    workflowVersion: integer('workflow_version').notNull(),
    triggerType: text('trigger_type').notNull(),
    status: text('status').notNull(),
    attempt: integer('attempt').notNull().default(1),
    error: json('error'),
    queuedAt: instant('queued_at').notNull(),
    startedAt: instant('started_at'),
    endedAt: instant('ended_at'),
    parentRunId: text('parent_run_id'),
    /** Whether a step of the parent waits for its end. */
    parentWaits: boolean('parent_waits').notNull().default(false),
    /** What it shares a limit with others by. */
    concurrencyKey: text('concurrency_key'),
    /** Of the last entry of its journal. */
    seq: integer('seq').notNull(),
    /** Of its journal, which bounds what is read at once. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    /** How many signals it was ever sent by other processes: its worker detects new ones by it. */
    signals: integer('signals').notNull().default(0),
    /** Whether steps of it may wait for events, which are kept for it. */
    awaitsEvents: boolean('awaits_events').notNull().default(false),
    /** Null while it waits for its concurrency key. */
    dueAt: instant('due_at'),
    ...leaseColumns(),
  },
  (table) => {
    const { workspaceId, environment, workflowId, triggerType, status, id } = table
    return [
      index('runs_list_idx').on(workspaceId, environment, id),
      index('runs_status_idx').on(workspaceId, environment, status, id),
      index('runs_trigger_idx').on(workspaceId, environment, triggerType, id),
      index('runs_workflow_idx').on(workflowId, id),
      index('runs_workflow_status_idx').on(workflowId, status, id),
      index('runs_parent_idx').on(table.parentRunId).where(sql`parent_run_id is not null`),
      index('runs_concurrency_idx')
        .on(table.concurrencyKey, id)
        .where(sql`concurrency_key is not null and ended_at is null`),
      index('runs_awaiting_idx')
        .on(workspaceId, environment, table.queuedAt)
        .where(sql`awaits_events and ended_at is null`),
      ...dueIndexes(dueRuns),
    ]
  },
)

/** Journals: what has happened in each run, in order. Number 0 is what it was started with. */
export const runEntries = pgTable(
  'run_entries',
  {
    runId: text('run_id').notNull(),
    seq: integer('seq').notNull(),
    /** Unix milliseconds. */
    at: bigint('at', { mode: 'number' }).notNull(),
    /** Without the field that stands in `large`. */
    entry: json('entry').notNull(),
    largeField: text('large_field'),
    /** A value that is too large to be read with the rest. */
    large: json('large'),
    largeBytes: integer('large_bytes'),
  },
  (table) => [primaryKey({ name: 'run_entries_pkey', columns: [table.runId, table.seq] })],
)

/** The triggers of runs, so that each starts only one. Deleted with its run. */
export const runTriggers = pgTable(
  'run_triggers',
  {
    workflowId: text('workflow_id').notNull(),
    key: text('key').notNull(),
    runId: text('run_id').notNull(),
  },
  (table) => [
    primaryKey({ name: 'run_triggers_pkey', columns: [table.workflowId, table.key] }),
    index('run_triggers_run_idx').on(table.runId),
    index('run_triggers_key_idx').on(table.key, table.runId),
  ],
)

/** The inboxes of runs: signals that their workers read. */
export const runSignals = pgTable(
  'run_signals',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    runId: text('run_id').notNull(),
    signal: json('signal').notNull(),
    /** Who has sent it; null for the platform itself. */
    actor: json('actor'),
    requestId: text('request_id'),
    /** Of the run, when it was sent: a later attempt ignores it. */
    attempt: integer('attempt'),
    /** Whether the sender waits for the outcome, and deletes the row. */
    awaited: boolean('awaited').notNull().default(false),
    /** `changed` or `ignored`, once the run has dealt with it. */
    outcome: text('outcome'),
  },
  (table) => [index('run_signals_run_idx').on(table.runId, table.id)],
)

/** Steps that wait for events. */
export const runEventWaits = pgTable(
  'run_event_waits',
  {
    runId: text('run_id').notNull(),
    /** Of the engine. */
    task: text('task').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    types: text('types').array().notNull(),
    filter: json('filter'),
    /** By service: up to where its log had come when the run was started. */
    since: json('since').notNull(),
  },
  (table) => [
    primaryKey({ name: 'run_event_waits_pkey', columns: [table.runId, table.task] }),
    index('run_event_waits_tenant_idx').on(table.workspaceId, table.environment),
  ],
)

/** Events that some version could wait for, for steps that start to wait after their arrival. */
export const recentEvents = pgTable(
  'recent_events',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    /** The service whose log it stands in, and where. */
    source: text('source').notNull(),
    position: bigint('position', { mode: 'number' }).notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    type: text('type').notNull(),
    /** As webhooks get it. */
    body: json('body').notNull(),
    requestId: text('request_id'),
    keptAt: timestamp('kept_at', { withTimezone: true, mode: 'string' }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'recent_events_pkey', columns: [table.source, table.position] }),
    index('recent_events_tenant_idx').on(table.workspaceId, table.environment, table.source, table.position),
    index('recent_events_kept_idx').on(table.keptAt),
  ],
)

/** The approvers of pending approvals: a row per user or role. */
export const runApprovers = pgTable(
  'run_approvers',
  {
    runId: text('run_id').notNull(),
    /** Of the engine. */
    task: text('task').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** `user:<id>` or `role:<name>`. */
    approver: text('approver').notNull(),
  },
  (table) => [
    primaryKey({ name: 'run_approvers_pkey', columns: [table.runId, table.task, table.approver] }),
    index('run_approvers_who_idx').on(table.workspaceId, table.environment, table.approver, table.runId),
  ],
)

/** Locked by the transaction that counts the runs of a key. */
export const runConcurrency = pgTable('run_concurrency', {
  key: text('key').primaryKey(),
  limit: integer('run_limit').notNull(),
})
