import { type Instant, newId } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { constantTimeEqual } from '@opsplane/runtime'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { accountTokens } from '../schema.js'
import { issueToken, readToken } from '../token/bearer-token.js'

export type TokenPurpose = (typeof accountTokens.$inferSelect)['purpose']
/** The purposes of tokens that are sent by mail. */
export type MailPurpose = Exclude<TokenPurpose, 'reset_link'>

/** The admin who created a link, with the permissions they had at that time. */
export const TokenIssuer = z.object({
  workspaceId: z.string(),
  userId: z.string(),
  permissions: z.array(z.string()),
})
export type TokenIssuer = z.infer<typeof TokenIssuer>

/** A valid token with its purpose. */
export interface ValidToken {
  accountId: string
  purpose: TokenPurpose
  /** `null` for a token sent by mail, and for a link created by the operator. */
  issuer: TokenIssuer | null
}

/** Lifetime of mailed tokens and links, in milliseconds. */
const lifetimeMs = 3_600_000

export interface NewAccountToken {
  accountId: string
  purpose: TokenPurpose
  issuer?: TokenIssuer | null
  now: Instant
}

/** Issues a token for a login. It replaces the previous token of this purpose. */
export async function issueAccountToken(
  db: Pick<Drizzle, 'insert'>,
  { accountId, purpose, issuer = null, now }: NewAccountToken,
) {
  const id = newId('accountToken')
  const { plaintext, secretHash } = issueToken('act', id)
  const expiresAt = new Date(Date.parse(now) + lifetimeMs).toISOString()
  const values = { id, secretHash, expiresAt, issuer }
  await db
    .insert(accountTokens)
    .values({ accountId, purpose, ...values })
    .onConflictDoUpdate({ target: [accountTokens.accountId, accountTokens.purpose], set: values })
  return { id, plaintext, expiresAt }
}

/** `null` if the token was never issued, has another purpose, was used or replaced, or has expired. */
export async function findValidToken(
  db: Pick<Drizzle, 'select'>,
  token: string,
  { purposes, now }: { purposes: readonly TokenPurpose[]; now: Instant },
): Promise<ValidToken | null> {
  const presentedToken = readToken(token)
  const [row] = await db
    .select()
    .from(accountTokens)
    .where(eq(accountTokens.id, presentedToken?.kind === 'act' ? presentedToken.id : ''))
  const matches = constantTimeEqual(row?.secretHash ?? '', presentedToken?.secretHash ?? '')
  if (!row || !matches || !purposes.includes(row.purpose) || row.expiresAt <= now) return null
  const { accountId, purpose, issuer } = row
  return { accountId, purpose, issuer: issuer === null ? null : TokenIssuer.parse(issuer) }
}

/** Consumes a token. Returns false if another request has consumed it, or a newer one was issued. */
export async function consumeToken(tx: Transaction, token: string, purpose: TokenPurpose) {
  const presentedToken = readToken(token)
  const deletedRows = await tx
    .delete(accountTokens)
    .where(and(eq(accountTokens.id, presentedToken?.id ?? ''), eq(accountTokens.purpose, purpose)))
    .returning({ id: accountTokens.id })
  return deletedRows.length === 1
}

/** Invalidates all tokens of this login. */
export async function deleteTokens(tx: Transaction, accountId: string): Promise<void> {
  await tx.delete(accountTokens).where(eq(accountTokens.accountId, accountId))
}
