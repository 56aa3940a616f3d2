import { type Instant, newId } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { constantTimeEqual } from '@opsplane/runtime'
import { and, eq } from 'drizzle-orm'
import { accountTokens } from '../schema.js'
import { issueToken, readToken } from '../token/bearer-token.js'

export type TokenPurpose = (typeof accountTokens.$inferSelect)['purpose']

/** How long what was mailed is good for. */
const lifetimeMs = 3_600_000

/** A token that goes to the address of a login, and replaces the one of this purpose that went before. */
export async function issueMailedToken(
  db: Drizzle,
  { accountId, purpose, now }: { accountId: string; purpose: TokenPurpose; now: Instant },
) {
  const id = newId('accountToken')
  const { plaintext, secretHash } = issueToken('act', id)
  const expiresAt = new Date(Date.parse(now) + lifetimeMs).toISOString()
  const values = { id, secretHash, expiresAt }
  await db
    .insert(accountTokens)
    .values({ accountId, purpose, ...values })
    .onConflictDoUpdate({ target: [accountTokens.accountId, accountTokens.purpose], set: values })
  return { id, plaintext, expiresAt }
}

/** The login a token was mailed to; null for what was never issued, has been used or replaced, or has ended. */
export async function accountOfMailedToken(
  db: Pick<Drizzle, 'select'>,
  token: string,
  { purpose, now }: { purpose: TokenPurpose; now: Instant },
): Promise<string | null> {
  const presented = readToken(token)
  const [row] = await db
    .select()
    .from(accountTokens)
    .where(eq(accountTokens.id, presented?.kind === 'act' ? presented.id : ''))
  const matches = constantTimeEqual(row?.secretHash ?? '', presented?.secretHash ?? '')
  return row && matches && row.purpose === purpose && row.expiresAt > now ? row.accountId : null
}

/** Uses it up. False when another request has done so, or a newer one was mailed. */
export async function takeMailedToken(tx: Transaction, token: string, purpose: TokenPurpose) {
  const presented = readToken(token)
  const taken = await tx
    .delete(accountTokens)
    .where(and(eq(accountTokens.id, presented?.id ?? ''), eq(accountTokens.purpose, purpose)))
    .returning({ id: accountTokens.id })
  return taken.length === 1
}

/** Nothing that was mailed about this login is good any more. */
export async function dropMailedTokens(tx: Transaction, accountId: string): Promise<void> {
  await tx.delete(accountTokens).where(eq(accountTokens.accountId, accountId))
}
