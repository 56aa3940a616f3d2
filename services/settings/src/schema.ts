import type { SignInMethod } from '@opsplane/contracts'
import {
  dueIndexes,
  dueTable,
  leaseColumns,
  readModelTable,
  retryColumns,
  stateText,
} from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import {
  bigint,
  check,
  doublePrecision,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

export { dataKeys } from '@opsplane/postgres'
export * from './schema/factor.js'
export * from './schema/provider.js'

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
    invitationId: text('invitation_id').generatedAlwaysAs(sql.raw("state#>>'{invitation,id}'")),
  },
  (table) => [
    uniqueIndex('memberships_user_key').on(table.userId, table.workspaceId),
    uniqueIndex('memberships_invitation_key').on(table.invitationId),
    index('memberships_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

/** The roles workspaces have made for themselves. */
export const roles = readModelTable('roles', { name: stateText('name', 'name') }, (table) => [
  uniqueIndex('roles_name_key').on(table.workspaceId, table.name),
])

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
    /** Of a browser's session: when the person last proved who they are. */
    provedAt: text('proved_at'),
    /** How the person proved who they are, in this order. */
    methods: text('methods').array().$type<SignInMethod[]>().notNull().default([]),
    /** Of single sign-on. */
    providerId: text('provider_id'),
    /** The only workspace the session enters. */
    workspaceId: text('workspace_id'),
  },
  (table) => [index('sessions_account_idx').on(table.accountId, table.expiresAt)],
)

/** When a login was last opened from a device: a family of browsers or clients, in one network, hashed. */
export const signInDevices = pgTable(
  'sign_in_devices',
  {
    accountId: text('account_id').notNull(),
    device: text('device').notNull(),
    lastAt: text('last_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.device] })],
)

/** Logins whose password was set by the operator of the installation, which proves whose they are. */
export const bootstrappedAccounts = pgTable('bootstrapped_accounts', {
  accountId: text('account_id').primaryKey(),
  createdAt: text('created_at').notNull(),
})

/** What was mailed about a login, or handed out to its person, hashed: one of each purpose is good, the latest. */
export const accountTokens = pgTable(
  'account_tokens',
  {
    accountId: text('account_id').notNull(),
    purpose: text('purpose', { enum: ['password_reset', 'address_proof', 'reset_link'] }).notNull(),
    id: text('id').notNull(),
    secretHash: text('secret_hash').notNull(),
    expiresAt: text('expires_at').notNull(),
    /** The admin who created a link, and what they held; null of what was mailed, and of the operator. */
    issuer: json('issuer'),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.purpose] }),
    uniqueIndex('account_tokens_id_key').on(table.id),
  ],
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

/** Uses of secrets by services: like those of keys, too frequent for the event log and no loss when gone. */
export const secretUsage = pgTable(
  'secret_usage',
  {
    secretId: text('secret_id').notNull(),
    /** What used it for this user, as kind and id, and where it went. */
    consumer: text('consumer').notNull(),
    userId: text('user_id').notNull(),
    host: text('host').notNull(),
    useCount: bigint('use_count', { mode: 'number' }).notNull(),
    lastUsedAt: text('last_used_at').notNull(),
    /** The service. */
    lastUsedBy: text('last_used_by').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.secretId, table.consumer, table.userId, table.host, table.lastUsedBy] }),
  ],
)

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
    requestId: eventText('request_id', 'requestId'),
    address: eventText('address', 'source,address'),
    /** Place in the chain of the workspace, over all environments. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('audit_log_created_idx').on(workspaceId, environment, createdAt, id),
      index('audit_log_type_idx').on(workspaceId, environment, table.type, createdAt, id),
      index('audit_log_actor_idx').on(workspaceId, environment, table.actorId, createdAt, id),
      index('audit_log_resource_idx').on(workspaceId, environment, table.resourceId, createdAt, id),
      index('audit_log_request_idx').on(workspaceId, environment, table.requestId, createdAt, id),
      index('audit_log_address_idx').on(workspaceId, environment, table.address, createdAt, id),
      uniqueIndex('audit_log_chain_key').on(workspaceId, table.seq),
    ]
  },
)

/** A chain's end is signed some time after it has grown. */
export const dueCheckpoints = dueTable({
  table: 'audit_heads',
  key: 'workspace_id',
  dueAt: 'checkpoint_at',
  waiting: 'checkpoint_at is not null',
})

/** The end of each workspace's chain, locked by the transaction that extends it. */
export const auditHeads = pgTable(
  'audit_heads',
  {
    workspaceId: text('workspace_id').primaryKey(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
    /** When its last event came. */
    at: text('at').notNull(),
    /** When its end is to be signed; null while it is. */
    checkpointAt: timestamp('checkpoint_at', { withTimezone: true, mode: 'string' }),
    /** The last end that was signed when it was due. */
    checkpointSeq: bigint('checkpoint_seq', { mode: 'number' }).notNull().default(0),
    ...retryColumns(),
  },
  () => dueIndexes(dueCheckpoints),
)

/** How much of each kind a workspace has, as the audit log has it. */
export const resourceCounts = pgTable(
  'resource_counts',
  {
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    resource: text('resource').notNull(),
    count: bigint('count', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.environment, table.resource] })],
)

/** What the end of a chain was at some time, signed. Rows are only ever added. */
export const auditCheckpoints = pgTable(
  'audit_checkpoints',
  {
    workspaceId: text('workspace_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
    at: text('at').notNull(),
    signature: text('signature').notNull(),
    keyId: text('key_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.seq] })],
)

/** Who has taken copies of the audit log. */
export const auditExports = readModelTable('audit_exports', {})

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
    /** Whom it is for, as `user:<id>` and `role:<name>`; null: admins. */
    audience: text('audience').array(),
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

/** A mail is due at once, and again after what failed. */
export const dueMails = dueTable({
  table: 'mails',
  key: 'id',
  dueAt: 'due_at',
  waiting: `status = 'pending'`,
  fairKey: 'workspace_id',
})

/** Mails to send: one per notification and recipient, one per invitation, and what people ask for about their logins. */
export const mails = pgTable(
  'mails',
  {
    /** Stays the same over all attempts. The Message-ID is made of it, so that a repetition is recognisable. */
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    /** What it tells of, and is made from when it is sent. */
    notificationId: text('notification_id'),
    /** What it brings; then subject and text stand in `sealed_content`, as they hold the token. */
    invitationId: text('invitation_id'),
    /** What it is for, of a mail about a login: made when it is sent, if there is a login with the address then. */
    purpose: text('purpose', { enum: ['password_reset', 'address_proof'] }),
    /** The sign-in it tells of, which may be over when it is sent. */
    signIn: json('sign_in'),
    /** Sealed for the workspace by the vault, and gone once the mail is settled. */
    sealedContent: text('sealed_content'),
    userId: text('user_id').notNull(),
    email: text('email').notNull(),
    status: text('status', { enum: ['pending', 'sent', 'failed'] })
      .notNull()
      .default('pending'),
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    /** It is of no use afterwards. */
    giveUpAt: timestamp('give_up_at', { withTimezone: true, mode: 'string' }).notNull(),
    ...leaseColumns(),
  },
  (table) => [
    ...dueIndexes(dueMails),
    index('mails_invitation_idx').on(table.invitationId),
    uniqueIndex('mails_purpose_key').on(table.email, table.purpose),
    check('mails_kind_check', sql`num_nonnulls(notification_id, invitation_id, purpose, sign_in) = 1`),
  ],
)

/** Grants whose key expires are due when it does: what acts by them is held. */
export const dueKeyEnds = dueTable({
  table: 'standing_grants',
  key: 'id',
  dueAt: 'key_ends_at',
  waiting: 'key_ends_at is not null and revoked_at is null',
})

/** What lets services act for people until it is revoked, or they have left: ADR 066. */
export const standingGrants = pgTable(
  'standing_grants',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    userId: text('user_id').notNull(),
    /** Who holds it, and what for. */
    service: text('service').notNull(),
    purpose: text('purpose').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, mode: 'string' }).notNull().defaultNow(),
    revokedAt: timestamp('revoked_at', { withTimezone: true, mode: 'string' }),
    /** The API key it was given by, and the time at which that expires by itself; null once that is dealt with. */
    keyId: text('key_id'),
    keyEndsAt: timestamp('key_ends_at', { withTimezone: true, mode: 'string' }),
    ...retryColumns(),
  },
  (table) => [
    index('standing_grants_user_idx').on(table.workspaceId, table.userId),
    ...dueIndexes(dueKeyEnds),
  ],
)

/** Calls between services that no replica takes a second time: ADR 083. Lost in a crash, as few as count still. */
export const acceptedCalls = pgTable('taken_calls', {
  id: text('id').primaryKey(),
  keptUntil: timestamp('kept_until', { withTimezone: true, mode: 'string' }).notNull(),
})

/** Buckets of requests that the gateways share: ADR 095. Lost in a crash, like the use that was made of them. */
export const rateBuckets = pgTable('rate_buckets', {
  key: text('key').primaryKey(),
  /** Below zero where gateways have taken more before they knew of each other. */
  tokens: doublePrecision('tokens').notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true, mode: 'string' }).notNull(),
  /** Then there is nothing to remember. */
  fullAt: timestamp('full_at', { withTimezone: true, mode: 'string' }).notNull(),
})
