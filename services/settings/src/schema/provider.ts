import { readModelTable, stateText } from '@opsplane/postgres'
import { index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'

/** Identity providers of workspaces. Their secrets are sealed by the vault before they are stored. */
export const identityProviders = readModelTable(
  'identity_providers',
  { enabled: stateText('enabled', 'enabled'), required: stateText('required', 'required') },
  (table) => [
    index('identity_providers_created_idx').on(
      table.workspaceId,
      table.environment,
      table.createdAt,
      table.id,
    ),
  ],
)

/** Subjects of providers, with their logins. */
export const identities = readModelTable(
  'identities',
  {
    userId: stateText('user_id', 'userId'),
    providerId: stateText('provider_id', 'providerId'),
    issuer: stateText('issuer', 'issuer'),
    subject: stateText('subject', 'subject'),
  },
  (table) => [
    uniqueIndex('identities_subject_key').on(table.providerId, table.issuer, table.subject),
    index('identities_user_idx').on(table.userId),
  ],
)

/** Data needed to end sessions of identity providers. Like sessions, these rows may be lost. */
export const ssoSessions = pgTable(
  'sso_sessions',
  {
    sessionId: text('session_id').primaryKey(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    identityId: text('identity_id').notNull(),
    /** Id of the session at the provider. */
    sid: text('sid'),
    /** Needed to log out at the provider; sealed by the vault. */
    sealedIdToken: text('sealed_id_token').notNull(),
  },
  (table) => [
    index('sso_sessions_provider_idx').on(table.providerId, table.identityId),
    index('sso_sessions_account_idx').on(table.accountId),
  ],
)

/** Sessions of owners who bypassed a required provider; each entry is reported once. */
export const breakGlassEntries = pgTable(
  'break_glass_entries',
  { sessionId: text('session_id').notNull(), workspaceId: text('workspace_id').notNull() },
  (table) => [primaryKey({ columns: [table.sessionId, table.workspaceId] })],
)
