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

/** Logins. They belong to no workspace, so their rows are stored under the platform's own tenant. */
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

/** The custom roles of workspaces. */
export const roles = readModelTable('roles', { name: stateText('name', 'name') }, (table) => [
  uniqueIndex('roles_name_key').on(table.workspaceId, table.name),
])

/** API keys; stores only hashes of their secrets. */
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

/** Last use of each key: too frequent for the event log; losing rows is acceptable. */
export const tokenUsage = pgTable('token_usage', {
  tokenId: text('token_id').primaryKey(),
  lastUsedAt: text('last_used_at').notNull(),
})

/** Active sessions. They change too often for the event log. If they are lost, users log in again. */
export const sessions = pgTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    secretHash: text('secret_hash').notNull(),
    accountId: text('account_id').notNull(),
    createdAt: text('created_at').notNull(),
    lastSeenAt: text('last_seen_at').notNull(),
    /** Absolute expiry. */
    expiresAt: text('expires_at').notNull(),
    address: text('address').notNull(),
    userAgent: text('user_agent').notNull(),
    /** For a browser session: when the person last proved their identity. */
    provedAt: text('proved_at'),
    /** Methods the person proved their identity with, in order. */
    methods: text('methods').array().$type<SignInMethod[]>().notNull().default([]),
    /** The identity provider of a single sign-on session. */
    providerId: text('provider_id'),
    /** The only workspace the session may enter. */
    workspaceId: text('workspace_id'),
  },
  (table) => [index('sessions_account_idx').on(table.accountId, table.expiresAt)],
)

/** Last sign-in of a login from each device: a family of browsers or clients in one network, hashed. */
export const signInDevices = pgTable(
  'sign_in_devices',
  {
    accountId: text('account_id').notNull(),
    device: text('device').notNull(),
    lastAt: text('last_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.device] })],
)

/** Logins whose password was set by the operator of the installation, which proves their owner. */
export const bootstrappedAccounts = pgTable('bootstrapped_accounts', {
  accountId: text('account_id').primaryKey(),
  createdAt: text('created_at').notNull(),
})

/** Hashed tokens that were mailed about a login or handed to its person. Only the latest of each purpose is valid. */
export const accountTokens = pgTable(
  'account_tokens',
  {
    accountId: text('account_id').notNull(),
    purpose: text('purpose', { enum: ['password_reset', 'address_proof', 'reset_link'] }).notNull(),
    id: text('id').notNull(),
    secretHash: text('secret_hash').notNull(),
    expiresAt: text('expires_at').notNull(),
    /**
     * The admin who created a link, with their permissions at that time; `null` for mailed tokens and for links of the
     * operator.
     */
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
    /** For an account and a network from which it was logged in. */
    trustedUntil: bigint('trusted_until', { mode: 'number' }).notNull().default(0),
    expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
  },
  (table) => [index('login_throttle_expires_idx').on(table.expiresAt)],
)

/** Secrets. Their values are sealed by the vault before they are stored. */
export const secrets = readModelTable('secrets', { name: stateText('name', 'name') }, (table) => [
  uniqueIndex('secrets_name_key').on(table.workspaceId, table.environment, table.name),
  index('secrets_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])

/** Uses of secrets by services. Like uses of keys, too frequent for the event log; losing rows is acceptable. */
export const secretUsage = pgTable(
  'secret_usage',
  {
    secretId: text('secret_id').notNull(),
    /** The consumer that used the secret for this user, as kind and id, and the host it was sent to. */
    consumer: text('consumer').notNull(),
    userId: text('user_id').notNull(),
    host: text('host').notNull(),
    useCount: bigint('use_count', { mode: 'number' }).notNull(),
    lastUsedAt: text('last_used_at').notNull(),
    /** The service that used the secret last. */
    lastUsedBy: text('last_used_by').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.secretId, table.consumer, table.userId, table.host, table.lastUsedBy] }),
  ],
)

const eventText = <Name extends string>(column: Name, path: string) =>
  text(column).generatedAlwaysAs(sql.raw(`event#>>'{${path}}'`))

/** Every event of the platform, as received from the stream. Append-only. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** Version of the aggregate the event belongs to. */
    version: integer('version').notNull(),
    /** The complete event, in shape A. */
    state: json('event').$type<Record<string, unknown>>().notNull(),
    createdAt: eventText('created_at', 'createdAt'),
    type: eventText('type', 'type'),
    actorId: eventText('actor_id', 'actor,id'),
    resourceType: eventText('resource_type', 'resource,type'),
    resourceId: eventText('resource_id', 'resource,id'),
    requestId: eventText('request_id', 'requestId'),
    address: eventText('address', 'source,address'),
    /** Position in the chain of the workspace, across all environments. */
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

/** Due work: chains whose end must be signed. */
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
    /** Time at which its last event was appended. */
    at: text('at').notNull(),
    /** When the end of the chain must be signed; `null` if it is signed. */
    checkpointAt: timestamp('checkpoint_at', { withTimezone: true, mode: 'string' }),
    /** The last position that was signed as due work. */
    checkpointSeq: bigint('checkpoint_seq', { mode: 'number' }).notNull().default(0),
    ...retryColumns(),
  },
  () => dueIndexes(dueCheckpoints),
)

/** Number of resources of each kind in a workspace, as counted from the audit log. */
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

/** Signed ends of chains at certain times. Append-only. */
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

/** Exports of the audit log. */
export const auditExports = readModelTable('audit_exports', {})

/** Notifications: one row per event that needs one, even if redelivered. */
export const notifications = pgTable(
  'notifications',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    eventId: text('event_id').notNull(),
    /** Version of the aggregate the event belongs to. */
    version: integer('version').notNull(),
    /** Recipients as `user:<id>` and `role:<name>`; `null`: admins. */
    audience: text('audience').array(),
    /** The complete NotificationContent. */
    state: json('state').$type<Record<string, unknown>>().notNull(),
    createdAt: stateText('created_at', 'createdAt'),
  },
  (table) => [
    uniqueIndex('notifications_event_key').on(table.eventId),
    index('notifications_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

/** Read marks of users. */
export const notificationReads = pgTable(
  'notification_reads',
  {
    notificationId: text('notification_id').notNull(),
    userId: text('user_id').notNull(),
    readAt: text('read_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.notificationId, table.userId] })],
)

/** Due work: mails to send, immediately or after a failed attempt. */
export const dueMails = dueTable({
  table: 'mails',
  key: 'id',
  dueAt: 'due_at',
  waiting: `status = 'pending'`,
  fairKey: 'workspace_id',
})

/** Mails to send: one per notification and recipient, one per invitation, and mails about logins. */
export const mails = pgTable(
  'mails',
  {
    /** The same for all attempts. The Message-ID is derived from it, so that duplicates are recognisable. */
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    /** The notification that the mail is composed from when it is sent. */
    notificationId: text('notification_id'),
    /** The invitation of the mail. Its subject and text are in `sealed_content`, because they contain the token. */
    invitationId: text('invitation_id'),
    /** Purpose of a mail about a login. It is composed when it is sent, if the address has a login at that time. */
    purpose: text('purpose', { enum: ['password_reset', 'address_proof'] }),
    /** The reported sign-in; its session may have ended when the mail is sent. */
    signIn: json('sign_in'),
    /** Sealed for the workspace by the vault, and removed once the mail is settled. */
    sealedContent: text('sealed_content'),
    userId: text('user_id').notNull(),
    email: text('email').notNull(),
    status: text('status', { enum: ['pending', 'sent', 'failed'] })
      .notNull()
      .default('pending'),
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    /** The mail is not sent after this time. */
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

/** Due work: expirations of keys with grants, which suspend the work that uses them. */
export const dueKeyEnds = dueTable({
  table: 'standing_grants',
  key: 'id',
  dueAt: 'key_ends_at',
  waiting: 'key_ends_at is not null and revoked_at is null',
})

/** Standing grants, with which services act for users until the grants are revoked or the users leave: ADR 066. */
export const standingGrants = pgTable(
  'standing_grants',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    userId: text('user_id').notNull(),
    /** The service that owns the grant, and its purpose. */
    service: text('service').notNull(),
    purpose: text('purpose').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, mode: 'string' }).notNull().defaultNow(),
    revokedAt: timestamp('revoked_at', { withTimezone: true, mode: 'string' }),
    /**
     * The API key the grant was given with, and the key's expiry; `key_ends_at` is `null` once the expiry has been
     * handled.
     */
    keyId: text('key_id'),
    keyEndsAt: timestamp('key_ends_at', { withTimezone: true, mode: 'string' }),
    ...retryColumns(),
  },
  (table) => [
    index('standing_grants_user_idx').on(table.workspaceId, table.userId),
    ...dueIndexes(dueKeyEnds),
  ],
)

/** Used tokens of single-use calls between services: ADR 083. Unlogged: a crash loses them. */
export const acceptedCalls = pgTable('taken_calls', {
  id: text('id').primaryKey(),
  keptUntil: timestamp('kept_until', { withTimezone: true, mode: 'string' }).notNull(),
})

/** Rate buckets that the gateways share: ADR 095. Unlogged: a crash loses them. */
export const rateBuckets = pgTable('rate_buckets', {
  key: text('key').primaryKey(),
  /** Negative if gateways together spent more than was left before they synchronised. */
  tokens: doublePrecision('tokens').notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true, mode: 'string' }).notNull(),
  /** Time at which the bucket is full; its row can then be deleted. */
  fullAt: timestamp('full_at', { withTimezone: true, mode: 'string' }).notNull(),
})
