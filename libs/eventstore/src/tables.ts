import { bigint, integer, json, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/**
 * The log of record: every state change, in order of `position`. Rows are only ever added. The tables here are those
 * that are queried with drizzle; migrations/0000_log.sql makes them and all others of a log.
 */
export const events = pgTable('events', {
  id: text('id').primaryKey(),
  position: bigint('position', { mode: 'number' }).notNull(),
  /** The decider the event came from, named by its read-model table, or the journal. */
  streamType: text('stream_type').notNull(),
  /** The aggregate's id, unique over all kinds of aggregates. */
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
  /** Address and user agent of the client; null for what the platform does itself. */
  source: json('source'),
  createdAt: instant('created_at').notNull(),
  /** The `traceparent` of the append, where its request is followed. */
  trace: text('trace'),
})

/** How far each consumer of the platform's events has come. */
export const consumerCheckpoints = pgTable('consumer_checkpoints', {
  consumer: text('consumer').primaryKey(),
  streamSequence: bigint('stream_sequence', { mode: 'number' }).notNull(),
  eventId: text('event_id').notNull(),
  handled: bigint('handled', { mode: 'number' }).notNull(),
  /** Up to which sequence of which stream it has acknowledged everything, for those that fill what they have missed. */
  streamCreated: text('stream_created'),
  ackFloor: bigint('ack_floor', { mode: 'number' }),
  startedAt: instant('started_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
})

/** Messages that were given up, as they came, with the reason. */
export const deadLetters = pgTable(
  'dead_letters',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    consumer: text('consumer').notNull(),
    /** The event's id where the message carries one, else its place in the stream. */
    messageId: text('message_id').notNull(),
    subject: text('subject').notNull(),
    streamSequence: bigint('stream_sequence', { mode: 'number' }).notNull(),
    payload: text('payload').notNull(),
    /** Where the event stands in the log of its service, when the message says so. */
    source: text('source'),
    sourcePosition: bigint('source_position', { mode: 'number' }),
    error: text('error').notNull(),
    /** What kind of failure the error is, without what it quotes; null of those from before. */
    cause: text('cause'),
    deliveries: integer('deliveries').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** When an operator asked for it to be handed to its consumer again; null once it has failed again. */
    redrivenAt: instant('redriven_at'),
  },
  (table) => [uniqueIndex('dead_letters_message_key').on(table.consumer, table.messageId)],
)
