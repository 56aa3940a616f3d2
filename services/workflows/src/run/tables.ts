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

/** A run that has not ended is due at `due_at`, unless it has a worker. */
export const dueRuns = dueTable({
  table: 'runs',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'ended_at is null',
  fairKey: 'workspace_id',
})

/**
 * One row for each run: the fields shown in lists, and its worker. Its history is in the journal. Partitioned by the
 * month in the id, like the journal: see ADR 064.
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
    /** Whether the step of the parent waits for this run to end. */
    parentWaits: boolean('parent_waits').notNull().default(false),
    /** Key of the concurrency limit it shares with other runs. */
    concurrencyKey: text('concurrency_key'),
    /** Sequence number of the last journal entry. */
    seq: integer('seq').notNull(),
    /** Size of its journal, which limits how many journals are read together. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    /** Number of signals sent to it by other processes so far, by which its worker detects new ones. */
    signals: integer('signals').notNull().default(0),
    /** Whether any of its steps may wait for events, which are stored for it. */
    awaitsEvents: boolean('awaits_events').notNull().default(false),
    /** `null` while it waits for its concurrency key. */
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

/** Journals: the history of each run, in order. Entry 0 contains the data it was started with. */
export const runEntries = pgTable(
  'run_entries',
  {
    runId: text('run_id').notNull(),
    seq: integer('seq').notNull(),
    /** Unix milliseconds. */
    at: bigint('at', { mode: 'number' }).notNull(),
    /** Without the field stored in `large`. */
    entry: json('entry').notNull(),
    largeField: text('large_field'),
    /** A value that is too large to be read with the others. */
    large: json('large'),
    largeBytes: integer('large_bytes'),
  },
  (table) => [primaryKey({ name: 'run_entries_pkey', columns: [table.runId, table.seq] })],
)

/** The triggers of runs, so that each starts only one run. Deleted with the run. */
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

/** The inboxes of runs: signals for their workers to read. */
export const runSignals = pgTable(
  'run_signals',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    runId: text('run_id').notNull(),
    signal: json('signal').notNull(),
    /** The sender; `null` for the platform itself. */
    actor: json('actor'),
    requestId: text('request_id'),
    /** Attempt of the run when the signal was sent; a later attempt ignores it. */
    attempt: integer('attempt'),
    /** Whether the sender waits for the outcome and then deletes the row. */
    awaited: boolean('awaited').notNull().default(false),
    /** `changed` or `ignored`, once the run has processed it. */
    outcome: text('outcome'),
  },
  (table) => [index('run_signals_run_idx').on(table.runId, table.id)],
)

/** Steps that wait for events. */
export const runEventWaits = pgTable(
  'run_event_waits',
  {
    runId: text('run_id').notNull(),
    /** Task id of the engine. */
    task: text('task').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    types: text('types').array().notNull(),
    filter: json('filter'),
    /** Log positions at the start of the run, by service. */
    since: json('since').notNull(),
  },
  (table) => [
    primaryKey({ name: 'run_event_waits_pkey', columns: [table.runId, table.task] }),
    index('run_event_waits_tenant_idx').on(table.workspaceId, table.environment),
  ],
)

/** Events that some version may wait for, kept for steps that start to wait after the event has arrived. */
export const recentEvents = pgTable(
  'recent_events',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    /** The service whose log contains the event, and the position there. */
    source: text('source').notNull(),
    position: bigint('position', { mode: 'number' }).notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    type: text('type').notNull(),
    /** In the format of webhooks. */
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

/** The approvers of pending approvals: one row for each user or role. */
export const runApprovers = pgTable(
  'run_approvers',
  {
    runId: text('run_id').notNull(),
    /** Task id of the engine. */
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

/** Locked by transactions that count the runs of a key. */
export const runConcurrency = pgTable('run_concurrency', {
  key: text('key').primaryKey(),
  limit: integer('run_limit').notNull(),
})
