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

/** What was sent again by hand, and replays of many as their events tell of them: see ADR 018. */
export const webhookResends = readModelTable('webhook_resends', {})
export const webhookReplays = readModelTable('webhook_replays', {})

/** Counts failed deliveries in a row. Apart from the webhook, since it changes with every delivery. */
export const webhookHealth = pgTable('webhook_health', {
  webhookId: text('webhook_id').primaryKey(),
  /** The webhook's epoch the count belongs to; a resumed webhook starts a new one, and so a new count. */
  epoch: integer('epoch').notNull(),
  consecutiveFailures: integer('consecutive_failures').notNull(),
  /** The longest run of failures within the results last recorded. */
  peak: integer('peak').notNull(),
})

/** How fast a webhook with a rate limit has been sent to, over all replicas. */
export const webhookPace = pgTable('webhook_pace', {
  webhookId: text('webhook_id').primaryKey(),
  /** Unix milliseconds from which on the next attempt may start; earlier ones are given out. */
  nextAt: doublePrecision('next_at').notNull(),
})

/** Counts the changes of a tenant's webhooks, in their transactions: who keeps them in memory compares. */
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

/** When something of a webhook is due next, and whether it is sent at all: see ADR 040. */
export const webhookQueues = pgTable(
  'webhook_queues',
  {
    webhookId: text('webhook_id').primaryKey(),
    /** The webhook's, or `deleted`. */
    status: text('status').notNull(),
    /** Unix milliseconds; never later than the earliest `due_at` of its deliveries. Null: nothing is due. */
    nextDueAt: bigint('next_due_at', { mode: 'number' }),
    /** No delivery that is due has a lesser id: earlier days need not be looked at. */
    oldestId: text('oldest_id').notNull().default(''),
    /** Unix milliseconds: what was due by then was missed during a pause, and is drained. 0: nothing is. */
    resumedAt: bigint('resumed_at', { mode: 'number' }).notNull().default(0),
    /** Unix milliseconds of the next step of the drain. */
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

/** What of each source's log was fanned out before a webhook was there, and so is not for it: see ADR 040. */
export const webhookFences = pgTable(
  'webhook_fences',
  {
    webhookId: text('webhook_id').notNull(),
    source: text('source').notNull(),
    /** Everything up to this position. */
    floor: bigint('floor', { mode: 'number' }).notNull(),
    /** And these above it: of each run the first one, and the last one with a minus. */
    done: bigint('done', { mode: 'number' }).array().notNull(),
  },
  (table) => [primaryKey({ name: 'webhook_fences_pkey', columns: [table.webhookId, table.source] })],
)

/** Positions that are fanned out, a row per batch and source, until the consumer's floor has passed them. */
export const fanOutMarks = pgTable('fan_out_marks', {
  source: text('source').notNull(),
  /** The highest of them. */
  last: bigint('last', { mode: 'number' }).notNull(),
  positions: bigint('positions', { mode: 'number' }).array().notNull(),
})

/**
 * Events on their way, once each, as they were published (json keeps the bytes): retries send the same body.
 * Partitioned by the day in the id, like the deliveries and their attempts: see ADR 015.
 */
export const deliveryEvents = pgTable('delivery_events', {
  eventId: text('event_id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  event: json('event').notNull(),
  createdAt: text('created_at').notNull(),
})

/** Draws the positions of changes; one after the other over all sessions. */
export const deliveryChanges = pgSequence('delivery_changes')

/** One event for one webhook. `due_at` and lease: see ADR 011. The id says which event and webhook: see ADR 015. */
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
    /** Attempts made before the present cycle; a manual retry begins a new one. */
    cycleBase: integer('cycle_base').notNull().default(0),
    /** Unix milliseconds. Without a lease: when the next attempt is due. With one: when the lease ends. */
    dueAt: bigint('due_at', { mode: 'number' }),
    /** The replica that is sending, or about to. */
    leaseOwner: text('lease_owner'),
    replayOf: text('replay_of'),
    /** Length of the event as JSON, which bounds what is claimed at once. */
    bytes: integer('bytes').notNull().default(0),
    /** Of a webhook that sends in order: the value it orders by, as JSON, and the event's place in the stream. */
    orderingKey: text('ordering_key'),
    orderingSequence: text('ordering_place'),
    lastAttemptAt: text('last_attempt_at'),
    lastResponseStatus: integer('last_response_status'),
    lastResponseBody: text('last_response_body'),
    lastDurationMs: integer('last_duration_ms'),
    lastErrorKind: text('last_error_kind'),
    lastErrorMessage: text('last_error_message'),
    createdAt: text('created_at').notNull(),
    /** Of the last change by an attempt or a resend; null before the first: see ADR 086. */
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

/** One request made for a delivery, secrets redacted. */
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
    /** Null where that phase was not come to, or the connection was there; all of them before they were measured. */
    dnsMs: integer('dns_ms'),
    connectMs: integer('connect_ms'),
    tlsMs: integer('tls_ms'),
    firstByteMs: integer('first_byte_ms'),
    totalMs: integer('total_ms'),
    isConnectionReused: boolean('is_connection_reused'),
  },
  (table) => [primaryKey({ name: 'delivery_attempts_pkey', columns: [table.deliveryId, table.number] })],
)

/** Jobs that have a step to make. */
export const dueReplays = dueTable({
  table: 'replay_jobs',
  key: 'id',
  dueAt: 'due_at',
  waiting: "status = 'running'",
})

/** A replay of many deliveries: what to replay, and how far it is. */
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
    /** Of a retry of a group of failures: its cause, and the change position up to which they are retried. */
    cause: text('cause'),
    toPosition: bigint('to_position', { mode: 'number' }),
    total: integer('total').notNull(),
    replayed: integer('replayed').notNull().default(0),
    /** The delivery replayed last; the job goes on behind it. */
    lastDeliveryId: text('last_delivery_id').notNull().default(''),
    /** Of the next step. */
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
