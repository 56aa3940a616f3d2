import type { FactorKind, SignInMethod } from '@opsplane/contracts'
import { bigint, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'

/** Second factors. What proves them changes with each use, so that rows are their truth; events report what is done with them. */
export const accountFactors = pgTable(
  'account_factors',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    kind: text('kind').$type<FactorKind>().notNull(),
    name: text('name').notNull(),
    createdAt: text('created_at').notNull(),
    /** Null: it is still to be proved once, and proves nothing. */
    confirmedAt: text('confirmed_at'),
    lastUsedAt: text('last_used_at'),
    /** Of codes by time, sealed by the vault. */
    sealedSecret: text('sealed_secret'),
    /** The last time step a code was accepted of. */
    lastStep: bigint('last_step', { mode: 'number' }),
    /** Of passkeys, in base64url. */
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

/** Hashed, as each has 80 random bits. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    accountId: text('account_id').notNull(),
    codeHash: text('code_hash').notNull(),
    usedAt: text('used_at'),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.codeHash] })],
)

/** What a person still has to prove, for minutes. Deleted when used. */
export const signInChallenges = pgTable(
  'sign_in_challenges',
  {
    id: text('id').primaryKey(),
    secretHash: text('secret_hash').notNull(),
    purpose: text('purpose', { enum: ['sign_in', 'step_up', 'enrolment'] }).notNull(),
    accountId: text('account_id').notNull(),
    /** Which steps up, or enrols. */
    sessionId: text('session_id'),
    /** What was proved before, of a sign-in; and the password it was proved with, which must still be the one. */
    methods: text('methods').array().$type<SignInMethod[]>().notNull().default([]),
    providerId: text('provider_id'),
    workspaceId: text('workspace_id'),
    passwordHash: text('password_hash'),
    attempts: integer('attempts').notNull().default(0),
    expiresAt: text('expires_at').notNull(),
  },
  (table) => [index('sign_in_challenges_expires_idx').on(table.expiresAt)],
)
