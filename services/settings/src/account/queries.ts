import { Account, ApiError } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { accounts } from '../schema.js'
import type { AccountState } from './domain.js'

export const StoredAccount = Account.extend({ passwordHash: z.string().nullable() })

/** The login with this normalised e-mail address. */
export async function accountByEmail(
  db: Pick<Drizzle, 'select'>,
  email: string,
): Promise<AccountState | null> {
  const [row] = await db.select({ state: accounts.state }).from(accounts).where(eq(accounts.email, email))
  return row ? StoredAccount.parse(row.state) : null
}

/** The account of a person who is logged in or received a mail. Throws `invalid_token` if it no longer exists. */
export async function requireAccount(db: Pick<Drizzle, 'select'>, id: string): Promise<AccountState> {
  const [row] = await db.select({ state: accounts.state }).from(accounts).where(eq(accounts.id, id))
  if (!row) throw new ApiError('invalid_token', 'The login of this token no longer exists.')
  return StoredAccount.parse(row.state)
}

/** Locks an account, so that logins with its current password are decided before or after the transaction. */
export async function lockAccount(tx: Pick<Drizzle, 'select'>, id: string): Promise<void> {
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, id)).for('update')
}

/** The login as the API shows it. */
export async function accountById(db: Drizzle, id: string): Promise<Account | null> {
  const [row] = await db.select({ state: accounts.state }).from(accounts).where(eq(accounts.id, id))
  return row ? Account.parse(row.state) : null
}
