import { Account } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { accounts } from '../schema.js'
import type { AccountState } from './domain.js'

export const StoredAccount = Account.extend({ passwordHash: z.string().nullable() })

/** The login with this normalised email. */
export async function accountByEmail(
  db: Pick<Drizzle, 'select'>,
  email: string,
): Promise<AccountState | null> {
  const [row] = await db.select({ state: accounts.state }).from(accounts).where(eq(accounts.email, email))
  return row ? StoredAccount.parse(row.state) : null
}

/** The login as the API shows it. */
export async function accountById(db: Drizzle, id: string): Promise<Account | null> {
  const [row] = await db.select({ state: accounts.state }).from(accounts).where(eq(accounts.id, id))
  return row ? Account.parse(row.state) : null
}
