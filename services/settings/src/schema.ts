import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { bigint, index, integer, json, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'

export {
  consumerCheckpoints,
  deadLetters,
  events,
  idempotencyKeys,
  numberCounters,
} from '@opsplane/eventstore'
export { dataKeys } from '@opsplane/postgres'

/** Logins. They belong to no workspace, so their rows stand under the platform's own tenant. */
export const accounts = readModelTable(
  'accounts',
  { email: stateText('email', 'email'), name: stateText('name', 'name') },
  (table) => [uniqueIndex('accounts_email_key').on(table.email)],
)

export const workspaces = readModelTable('workspaces', { slug: stateText('slug', 'slug') }, (table) => [
  uniqueIndex('workspaces_slug_key').on(table.slug),
])

export const memberships = readModelTable(
  'memberships',
  {
    userId: stateText('user_id', 'userId'),
    role: stateText('role', 'role'),
    status: stateText('status', 'status'),
  },
  (table) => [
    uniqueIndex('memberships_user_key').on(table.userId, table.workspaceId),
    index('memberships_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

/** API keys: hashes only. */
export const tokens = readModelTable(
  'tokens',
  { userId: stateText('user_id', 'userId'), status: stateText('status', 'status') },
  (table) => [
    index('tokens_user_idx').on(
      table.workspaceId,
      table.environment,
      table.userId,
      table.createdAt,
      table.id,
    ),
  ],
)

/** When keys were last used: too frequent and too dull for the event log, and no loss when it is gone. */
export const tokenUsage = pgTable('token_usage', {
  tokenId: text('token_id').primaryKey(),
  lastUsedAt: text('last_used_at').notNull(),
})

/** Logins in force. They come and go too often for the event log; losing them means logging in again. */
export const sessions = pgTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    secretHash: text('secret_hash').notNull(),
    accountId: text('account_id').notNull(),
    createdAt: text('created_at').notNull(),
    lastSeenAt: text('last_seen_at').notNull(),
    /** Absolute end. */
    expiresAt: text('expires_at').notNull(),
    address: text('address').notNull(),
    userAgent: text('user_agent').notNull(),
  },
  (table) => [index('sessions_account_idx').on(table.accountId, table.expiresAt)],
)

/** Failed logins by hashed account, network, and both: ADR 022. Times are Unix milliseconds. */
export const loginThrottle = pgTable(
  'login_throttle',
  {
    key: text('key').primaryKey(),
    failures: integer('failures').notNull(),
    lastAt: bigint('last_at', { mode: 'number' }).notNull(),
    blockedUntil: bigint('blocked_until', { mode: 'number' }).notNull(),
    /** Of an account and a network it was logged in from. */
    trustedUntil: bigint('trusted_until', { mode: 'number' }).notNull().default(0),
    expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
  },
  (table) => [index('login_throttle_expires_idx').on(table.expiresAt)],
)

/** Values are sealed by the vault before they come here. */
export const secrets = readModelTable('secrets', { name: stateText('name', 'name') }, (table) => [
  uniqueIndex('secrets_name_key').on(table.workspaceId, table.environment, table.name),
  index('secrets_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])

const eventText = <Name extends string>(column: Name, path: string) =>
  text(column).generatedAlwaysAs(sql.raw(`event#>>'{${path}}'`))

/** Every event of the platform, as it came over the stream. Rows are only ever added. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** Of the aggregate the event belongs to. */
    version: integer('version').notNull(),
    /** Shape A, whole. */
    state: json('event').$type<Record<string, unknown>>().notNull(),
    createdAt: eventText('created_at', 'createdAt'),
    type: eventText('type', 'type'),
    actorId: eventText('actor_id', 'actor,id'),
    resourceType: eventText('resource_type', 'resource,type'),
    resourceId: eventText('resource_id', 'resource,id'),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('audit_log_created_idx').on(workspaceId, environment, createdAt, id),
      index('audit_log_type_idx').on(workspaceId, environment, table.type, createdAt, id),
      index('audit_log_actor_idx').on(workspaceId, environment, table.actorId, createdAt, id),
      index('audit_log_resource_idx').on(workspaceId, environment, table.resourceId, createdAt, id),
    ]
  },
)

/** What admins should know of: one row per event that calls for it, however often the event comes. */
export const notifications = pgTable(
  'notifications',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    eventId: text('event_id').notNull(),
    /** Of the aggregate the event belongs to. */
    version: integer('version').notNull(),
    /** NotificationContent, whole. */
    state: json('state').$type<Record<string, unknown>>().notNull(),
    createdAt: stateText('created_at', 'createdAt'),
  },
  (table) => [
    uniqueIndex('notifications_event_key').on(table.eventId),
    index('notifications_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

/** Who has read what. */
export const notificationReads = pgTable(
  'notification_reads',
  {
    notificationId: text('notification_id').notNull(),
    userId: text('user_id').notNull(),
    readAt: text('read_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.notificationId, table.userId] })],
)

/** Mails to send, one per notification and recipient. Times are Unix milliseconds. */
export const notificationMails = pgTable(
  'notification_mails',
  {
    /** Made of notification and recipient; also of the Message-ID, so that a repetition is recognisable. */
    id: text('id').primaryKey(),
    notificationId: text('notification_id').notNull(),
    userId: text('user_id').notNull(),
    email: text('email').notNull(),
    status: text('status', { enum: ['pending', 'sent', 'failed'] })
      .notNull()
      .default('pending'),
    /** Counted when one begins, which also tells whose lease it is. */
    attempts: integer('attempts').notNull().default(0),
    /** Of the next attempt; while one is under way, the end of its lease. */
    dueAt: bigint('due_at', { mode: 'number' }).notNull(),
    giveUpAt: bigint('give_up_at', { mode: 'number' }).notNull(),
    lastError: text('last_error'),
  },
  (table) => [index('notification_mails_due_idx').on(table.dueAt).where(sql`status = 'pending'`)],
)
