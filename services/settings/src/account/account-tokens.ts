import { type Instant, newId } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { constantTimeEqual } from '@opsplane/runtime'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { accountTokens } from '../schema.js'
import { issueToken, readToken } from '../token/bearer-token.js'

export type TokenPurpose = (typeof accountTokens.$inferSelect)['purpose']
/** Of what goes by mail. */
export type MailPurpose = Exclude<TokenPurpose, 'reset_link'>

/** The admin who has created a link, and what they held then. */
export const TokenIssuer = z.object({
  workspaceId: z.string(),
  userId: z.string(),
  permissions: z.array(z.string()),
})
export type TokenIssuer = z.infer<typeof TokenIssuer>

/** A token that is good, and of what. */
export interface ValidToken {
  accountId: string
  purpose: TokenPurpose
  /** Null of what was mailed, and of a link of the operator. */
  issuer: TokenIssuer | null
}

/** How long what was mailed or handed out is good for. */
const lifetimeMs = 3_600_000

export interface NewAccountToken {
  accountId: string
  purpose: TokenPurpose
  issuer?: TokenIssuer | null
  now: Instant
}

/** A token for the person of a login, which replaces the one of this purpose that went before. */
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

/** Null for what was never issued, is for something else, has been used or replaced, or has ended. */
export async function findValidToken(
  db: Pick<Drizzle, 'select'>,
  token: string,
  { purposes, now }: { purposes: readonly TokenPurpose[]; now: Instant },
): Promise<ValidToken | null> {
  const presented = readToken(token)
  const [row] = await db
    .select()
    .from(accountTokens)
    .where(eq(accountTokens.id, presented?.kind === 'act' ? presented.id : ''))
  const matches = constantTimeEqual(row?.secretHash ?? '', presented?.secretHash ?? '')
  if (!row || !matches || !purposes.includes(row.purpose) || row.expiresAt <= now) return null
  const { accountId, purpose, issuer } = row
  return { accountId, purpose, issuer: issuer === null ? null : TokenIssuer.parse(issuer) }
}

/** Uses it up. False when another request has done so, or a newer one was issued. */
export async function consumeToken(tx: Transaction, token: string, purpose: TokenPurpose) {
  const presented = readToken(token)
  const taken = await tx
    .delete(accountTokens)
    .where(and(eq(accountTokens.id, presented?.id ?? ''), eq(accountTokens.purpose, purpose)))
    .returning({ id: accountTokens.id })
  return taken.length === 1
}

/** Nothing that was issued for this login is good any more. */
export async function deleteTokens(tx: Transaction, accountId: string): Promise<void> {
  await tx.delete(accountTokens).where(eq(accountTokens.accountId, accountId))
}
