import { sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  json,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** Serves lists as they were: a page walks the creations of a kind in order. */
const creationsIndex = (
  table: Record<'workspaceId' | 'environment' | 'streamType' | 'createdAt' | 'streamId', PgColumn>,
) =>
  index('events_creations_idx')
    .on(table.workspaceId, table.environment, table.streamType, table.createdAt, table.streamId)
    .where(sql`version = 1`)

/**
 * The log of record: every state change, in order. Rows are only ever added; of an existing one nothing but
 * `published_at` changes. `sealed` holds the part of the state that never leaves the service. JSON columns are json,
 * not jsonb: what is read back has its fields in the order they were written.
 */
const eventLog = ({ listsAsOf }: { listsAsOf: boolean }) =>
  pgTable(
    'events',
    {
      position: bigint('position', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
      id: text('id').notNull(),
      /** The decider the event came from, named by its read-model table. */
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
      sealed: json('sealed'),
      requestId: text('request_id'),
      causationId: text('causation_id'),
      /** Address and user agent of the client; null for what the platform does itself. */
      source: json('source'),
      createdAt: instant('created_at').notNull(),
      publishedAt: instant('published_at'),
    },
    (table) => [
      uniqueIndex('events_id_key').on(table.id),
      // Guards against two writers of one aggregate, and serves reading it as it was at some time.
      uniqueIndex('events_stream_version_key').on(table.streamId, table.version),
      index('events_unpublished_idx').on(table.position).where(sql`published_at is null`),
      ...(listsAsOf ? [creationsIndex(table)] : []),
    ],
  )
export const events = eventLog({ listsAsOf: false })
/** The log of a service whose lists take `asOf`. */
export const eventsForLists = eventLog({ listsAsOf: true })

/** Requests by Idempotency-Key. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    key: text('key').primaryKey(),
    fingerprint: text('fingerprint').notNull(),
    /** The response's status; null while the request is in flight. */
    status: integer('status'),
    body: json('body'),
    headers: json('headers'),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Until when a request in flight counts as alive. */
    lockedUntil: instant('locked_until'),
    expiresAt: instant('expires_at').notNull().default(sql`now() + interval '24 hours'`),
  },
  (table) => [index('idempotency_keys_expires_idx').on(table.expiresAt)],
)

/** How far each consumer of the platform's events has come. */
export const consumerCheckpoints = pgTable('consumer_checkpoints', {
  consumer: text('consumer').primaryKey(),
  streamSequence: bigint('stream_sequence', { mode: 'number' }).notNull(),
  eventId: text('event_id').notNull(),
  handled: bigint('handled', { mode: 'number' }).notNull(),
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
    error: text('error').notNull(),
    deliveries: integer('deliveries').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [uniqueIndex('dead_letters_message_key').on(table.consumer, table.messageId)],
)

/** The last number given out per workspace and kind, such as the incident numbers of one workspace. */
export const numberCounters = pgTable(
  'number_counters',
  {
    workspaceId: text('workspace_id').notNull(),
    kind: text('kind').notNull(),
    last: bigint('last', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ name: 'number_counters_pkey', columns: [table.workspaceId, table.kind] })],
)

/** The tables the event store needs in every service's schema. */
export const platformTables = { events, idempotencyKeys, consumerCheckpoints, deadLetters, numberCounters }
