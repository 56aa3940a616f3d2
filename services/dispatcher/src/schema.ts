import { dueIndexes, dueTable, readModelTable, retryColumns, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

export { dataKeys } from '@opsplane/postgres'

export const webhooks = readModelTable('webhooks', { status: stateText('status', 'status') }, (table) => [
  index('webhooks_list_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])

/** Manual resends, and replay jobs as described by their events: see ADR 018. */
export const webhookResends = readModelTable('webhook_resends', {})
export const webhookReplays = readModelTable('webhook_replays', {})

/** Counts consecutive failed deliveries. Separate from the webhook, because it changes with every delivery. */
export const webhookHealth = pgTable('webhook_health', {
  webhookId: text('webhook_id').primaryKey(),
  /** The webhook's epoch that the count belongs to; resuming a webhook starts a new epoch and count. */
  epoch: integer('epoch').notNull(),
  consecutiveFailures: integer('consecutive_failures').notNull(),
  /** The longest run of failures within the results recorded last. */
  peak: integer('peak').notNull(),
})

/** Rate limit state of a webhook, over all replicas. */
export const webhookPace = pgTable('webhook_pace', {
  webhookId: text('webhook_id').primaryKey(),
  /** Unix milliseconds at which the next attempt may start; earlier slots are taken. */
  nextAt: doublePrecision('next_at').notNull(),
})

/** Counts the changes of a tenant's webhooks, in the same transactions; compared by replicas that cache webhooks. */
export const webhookRevisions = pgTable(
  'webhook_revisions',
  {
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    revision: bigint('revision', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ name: 'webhook_revisions_pkey', columns: [table.workspaceId, table.environment] }),
  ],
)

/** When a webhook's next delivery is due, and whether it is sent at all: see ADR 040. */
export const webhookQueues = pgTable(
  'webhook_queues',
  {
    webhookId: text('webhook_id').primaryKey(),
    /** Status of the webhook, or `deleted`. */
    status: text('status').notNull(),
    /** Unix milliseconds; never later than the earliest `due_at` of its deliveries. Null if none is due. */
    nextDueAt: bigint('next_due_at', { mode: 'number' }),
    /** No due delivery has a lower id, so partitions of earlier days need not be read. */
    oldestId: text('oldest_id').notNull().default(''),
    /** Unix milliseconds: deliveries due until then were missed during a pause and are drained. 0 if there are none. */
    resumedAt: bigint('resumed_at', { mode: 'number' }).notNull().default(0),
    /** Unix milliseconds of the next drain step. */
    drainAt: bigint('drain_at', { mode: 'number' }).notNull().default(0),
    drainedTo: text('drained_to').notNull().default(''),
  },
  (table) => [
    index('webhook_queues_due_idx')
      .on(table.nextDueAt)
      .where(sql`status = 'active' and next_due_at is not null`),
    index('webhook_queues_deleted_idx').on(table.webhookId).where(sql`status = 'deleted'`),
  ],
)

/** Positions in each source's log that were fanned out before a webhook existed and are not sent to it: see ADR 040. */
export const webhookFences = pgTable(
  'webhook_fences',
  {
    webhookId: text('webhook_id').notNull(),
    source: text('source').notNull(),
    /** All positions up to this one are fenced. */
    floor: bigint('floor', { mode: 'number' }).notNull(),
    /** Fenced positions above it, as runs: the first position, followed by the last one negated. */
    done: bigint('done', { mode: 'number' }).array().notNull(),
  },
  (table) => [primaryKey({ name: 'webhook_fences_pkey', columns: [table.webhookId, table.source] })],
)

/** Fanned out positions, one row per batch and source, until the consumer's floor has passed them. */
export const fanOutMarks = pgTable('fan_out_marks', {
  source: text('source').notNull(),
  /** The highest of these positions. */
  last: bigint('last', { mode: 'number' }).notNull(),
  positions: bigint('positions', { mode: 'number' }).array().notNull(),
})

/**
 * Events with unfinished or recent deliveries, stored once as published (json preserves the text): retries send the
 * same body. Partitioned by the day in the id, like the deliveries and their attempts: see ADR 015.
 */
export const deliveryEvents = pgTable('delivery_events', {
  eventId: text('event_id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  event: json('event').notNull(),
  createdAt: text('created_at').notNull(),
})

/** Sequence of change positions, which ascend over all sessions. */
export const deliveryChanges = pgSequence('delivery_changes')

/**
 * One event for one webhook. `due_at` and lease: see ADR 011. The id is derived from event
 * and webhook: see ADR 015.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    webhookId: text('webhook_id').notNull(),
    eventId: text('event_id').notNull(),
    eventType: text('event_type').notNull(),
    url: text('url').notNull(),
    status: text('status').notNull(),
    attempts: integer('attempts').notNull().default(0),
    /** Attempts made before the present cycle; a manual retry starts a new cycle. */
    cycleBase: integer('cycle_base').notNull().default(0),
    /** Unix milliseconds. Without a lease: when the next attempt is due. With a lease: when it expires. */
    dueAt: bigint('due_at', { mode: 'number' }),
    /** The replica that sends it or is about to. */
    leaseOwner: text('lease_owner'),
    replayOf: text('replay_of'),
    /** Length of the event as JSON; limits how much is claimed at a time. */
    bytes: integer('bytes').notNull().default(0),
    /** Ordering key of an ordered webhook's delivery, as JSON, followed by the event's sequence in the stream. */
    orderingKey: text('ordering_key'),
    orderingSequence: text('ordering_place'),
    lastAttemptAt: text('last_attempt_at'),
    lastResponseStatus: integer('last_response_status'),
    lastResponseBody: text('last_response_body'),
    lastDurationMs: integer('last_duration_ms'),
    lastErrorKind: text('last_error_kind'),
    lastErrorMessage: text('last_error_message'),
    createdAt: text('created_at').notNull(),
    /** Change position of the last attempt or resend; null before the first: see ADR 086. */
    changePosition: bigint('change_position', { mode: 'number' }),
  },
  (table) => [
    index('deliveries_changes_idx').on(table.changePosition).where(sql`change_position is not null`),
    index('deliveries_event_idx').on(table.eventId),
    index('deliveries_tenant_idx').on(table.workspaceId, table.environment, table.id),
    index('deliveries_unsuccessful_idx')
      .on(table.workspaceId, table.environment, table.status, table.id)
      .where(sql`status <> 'succeeded'`),
    index('deliveries_replays_idx')
      .on(table.webhookId, table.eventId, table.id)
      .where(sql`replay_of is not null`),
    index('deliveries_list_idx').on(table.webhookId, table.id),
    index('deliveries_failed_idx').on(table.webhookId, table.id).where(sql`status = 'failed'`),
    index('deliveries_unfinished_idx')
      .on(table.webhookId, table.id)
      .where(sql`status in ('pending', 'retrying')`),
    index('deliveries_lease_idx').on(table.leaseOwner).where(sql`lease_owner is not null`),
    index('deliveries_due_idx')
      .on(table.webhookId, table.dueAt)
      .where(sql`status in ('pending', 'retrying')`),
    index('deliveries_ordering_idx')
      .on(table.webhookId, table.orderingKey, table.orderingSequence)
      .where(sql`ordering_key is not null and status in ('pending', 'retrying')`),
  ],
)

/** One request of a delivery, with secrets redacted. */
export const deliveryAttempts = pgTable(
  'delivery_attempts',
  {
    deliveryId: text('delivery_id').notNull(),
    number: integer('number').notNull(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    startedAt: text('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    url: text('url').notNull(),
    requestHeaders: json('request_headers').$type<Record<string, string>>().notNull(),
    responseStatus: integer('response_status'),
    responseHeaders: json('response_headers').$type<Record<string, string>>(),
    responseBody: text('response_body'),
    responseTruncated: boolean('response_truncated'),
    errorKind: text('error_kind'),
    errorMessage: text('error_message'),
    /**
     * Null if the phase was not reached or the connection was reused; all are null in rows
     * from before they were measured.
     */
    dnsMs: integer('dns_ms'),
    connectMs: integer('connect_ms'),
    tlsMs: integer('tls_ms'),
    firstByteMs: integer('first_byte_ms'),
    totalMs: integer('total_ms'),
    isConnectionReused: boolean('is_connection_reused'),
  },
  (table) => [primaryKey({ name: 'delivery_attempts_pkey', columns: [table.deliveryId, table.number] })],
)

/** Jobs with a pending step. */
export const dueReplays = dueTable({
  table: 'replay_jobs',
  key: 'id',
  dueAt: 'due_at',
  waiting: "status = 'running'",
})

/** A replay of many deliveries: selection and progress. */
export const replayJobs = pgTable(
  'replay_jobs',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    webhookId: text('webhook_id').notNull(),
    status: text('status').notNull().default('running'),
    statuses: text('statuses').array().notNull(),
    eventType: text('event_type'),
    fromTime: text('from_time'),
    toTime: text('to_time').notNull(),
    /** For a retry of a failure group: its cause, and the change position up to which failures are retried. */
    cause: text('cause'),
    toPosition: bigint('to_position', { mode: 'number' }),
    total: integer('total').notNull(),
    replayed: integer('replayed').notNull().default(0),
    /** The last replayed delivery; the job continues after it. */
    lastDeliveryId: text('last_delivery_id').notNull().default(''),
    /** When the next step is due. */
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    createdAt: text('created_at').notNull(),
    finishedAt: text('finished_at'),
    ...retryColumns(),
  },
  (table) => [
    uniqueIndex('replay_jobs_running_key').on(table.webhookId).where(sql`status = 'running'`),
    index('replay_jobs_list_idx').on(table.webhookId, table.id),
    ...dueIndexes(dueReplays),
  ],
)
