import { bigint, integer, json, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/**
 * The log, the source of truth: every state change, in order of `position`. Rows are only ever added. This file
 * has only the tables queried with drizzle; migrations/0000_log.sql creates them and all other tables of a log.
 */
export const events = pgTable('events', {
  id: text('id').primaryKey(),
  position: bigint('position', { mode: 'number' }).notNull(),
  /** The decider the event came from, named by its read-model table, or the journal. */
  streamType: text('stream_type').notNull(),
  /** The aggregate's id, unique across all types of aggregates. */
  streamId: text('stream_id').notNull(),
  /** From 1 without gaps within the aggregate. */
  version: integer('version').notNull(),
  type: text('type').notNull(),
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  actor: json('actor').notNull(),
  resource: json('resource').notNull(),
  data: json('data').notNull(),
  /** The part of the state that never leaves the service. */
  sealed: json('sealed'),
  requestId: text('request_id'),
  causationId: text('causation_id'),
  /** Address and user agent of the client; `null` for actions of the platform itself. */
  source: json('source'),
  createdAt: instant('created_at').notNull(),
  /** The `traceparent` of the append, if its request is traced. */
  trace: text('trace'),
})

/** Progress of each consumer of the platform's events. */
export const consumerCheckpoints = pgTable('consumer_checkpoints', {
  consumer: text('consumer').primaryKey(),
  streamSequence: bigint('stream_sequence', { mode: 'number' }).notNull(),
  eventId: text('event_id').notNull(),
  handled: bigint('handled', { mode: 'number' }).notNull(),
  /** The stream and the sequence up to which everything is acknowledged, for consumers that backfill. */
  streamCreated: text('stream_created'),
  ackFloor: bigint('ack_floor', { mode: 'number' }),
  startedAt: instant('started_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
})

/** Messages that were given up, unchanged, with the reason. */
export const deadLetters = pgTable(
  'dead_letters',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    consumer: text('consumer').notNull(),
    /** The event's id if the message carries one, otherwise its position in the stream. */
    messageId: text('message_id').notNull(),
    subject: text('subject').notNull(),
    streamSequence: bigint('stream_sequence', { mode: 'number' }).notNull(),
    payload: text('payload').notNull(),
    /** The event's service and position in the log of that service, if the message states them. */
    source: text('source'),
    sourcePosition: bigint('source_position', { mode: 'number' }),
    error: text('error').notNull(),
    /** The kind of failure, without quoted data; `null` for dead letters from before causes were recorded. */
    cause: text('cause'),
    deliveries: integer('deliveries').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** When an operator requested its redrive; `null` again once it has failed again. */
    redrivenAt: instant('redriven_at'),
  },
  (table) => [uniqueIndex('dead_letters_message_key').on(table.consumer, table.messageId)],
)
