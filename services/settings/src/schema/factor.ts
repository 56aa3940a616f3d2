import type { FactorKind, SignInMethod } from '@opsplane/contracts'
import { bigint, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'

/** Second factors. Their counters change with each use, so these rows are the source of truth; events report changes. */
export const accountFactors = pgTable(
  'account_factors',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    kind: text('kind').$type<FactorKind>().notNull(),
    name: text('name').notNull(),
    createdAt: text('created_at').notNull(),
    /** `null`: the factor must still be proved once, and is not valid yet. */
    confirmedAt: text('confirmed_at'),
    lastUsedAt: text('last_used_at'),
    /** Secret of time-based codes, sealed by the vault. */
    sealedSecret: text('sealed_secret'),
    /** The last time step of which a code was accepted. */
    lastStep: bigint('last_step', { mode: 'number' }),
    /** For passkeys; in base64url. */
    credentialId: text('credential_id'),
    publicKey: text('public_key'),
    signCounter: bigint('sign_counter', { mode: 'number' }),
    transports: text('transports').array(),
  },
  (table) => [
    index('account_factors_account_idx').on(table.accountId),
    uniqueIndex('account_factors_credential_key').on(table.credentialId),
  ],
)

/** Recovery codes. A plain hash suffices, because each has 80 random bits. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    accountId: text('account_id').notNull(),
    codeHash: text('code_hash').notNull(),
    usedAt: text('used_at'),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.codeHash] })],
)

/** Short-lived challenges to prove a factor. Deleted when used. */
export const signInChallenges = pgTable(
  'sign_in_challenges',
  {
    id: text('id').primaryKey(),
    secretHash: text('secret_hash').notNull(),
    purpose: text('purpose', { enum: ['sign_in', 'step_up', 'enrolment'] }).notNull(),
    accountId: text('account_id').notNull(),
    /** The session that steps up or enrols. */
    sessionId: text('session_id'),
    /**
     * For a sign-in: the methods already proved. `password_hash` is the hash of the proved password, which must still be
     * current.
     */
    methods: text('methods').array().$type<SignInMethod[]>().notNull().default([]),
    providerId: text('provider_id'),
    workspaceId: text('workspace_id'),
    passwordHash: text('password_hash'),
    attempts: integer('attempts').notNull().default(0),
    expiresAt: text('expires_at').notNull(),
  },
  (table) => [index('sign_in_challenges_expires_idx').on(table.expiresAt)],
)
