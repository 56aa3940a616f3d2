import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
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
    /** Of a webhook that sends in order: the value it orders by, as JSON, and the event's place in the stream. */
    orderingKey: text('ordering_key'),
    orderingPlace: text('ordering_place'),
    lastAttemptAt: text('last_attempt_at'),
    lastResponseStatus: integer('last_response_status'),
    lastResponseBody: text('last_response_body'),
    lastDurationMs: integer('last_duration_ms'),
    lastErrorKind: text('last_error_kind'),
    lastErrorMessage: text('last_error_message'),
    createdAt: text('created_at').notNull(),
  },
  (table) => [
    index('deliveries_event_idx').on(table.eventId),
    index('deliveries_list_idx').on(table.webhookId, table.id),
    index('deliveries_failed_idx').on(table.webhookId, table.id).where(sql`status = 'failed'`),
    index('deliveries_held_idx').on(table.webhookId, table.id).where(sql`status = 'held'`),
    index('deliveries_due_idx')
      .on(table.webhookId, table.dueAt)
      .where(sql`status in ('pending', 'retrying')`),
    index('deliveries_ordering_idx')
      .on(table.webhookId, table.orderingKey, table.orderingPlace)
      .where(sql`ordering_key is not null and status in ('pending', 'retrying', 'held')`),
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
  },
  (table) => [primaryKey({ name: 'delivery_attempts_pkey', columns: [table.deliveryId, table.number] })],
)

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
    total: integer('total').notNull(),
    replayed: integer('replayed').notNull().default(0),
    /** The delivery replayed last; the job goes on behind it. */
    lastDeliveryId: text('last_delivery_id').notNull().default(''),
    /** Unix milliseconds of the next step. */
    dueAt: bigint('due_at', { mode: 'number' }).notNull(),
    createdAt: text('created_at').notNull(),
    finishedAt: text('finished_at'),
  },
  (table) => [
    uniqueIndex('replay_jobs_running_key').on(table.webhookId).where(sql`status = 'running'`),
    index('replay_jobs_list_idx').on(table.webhookId, table.id),
  ],
)
