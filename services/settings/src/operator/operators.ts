import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import { accounts, bootstrappedAccounts } from '../schema.js'

/** The operators of the installation: logins with one of the configured addresses. */
export interface Operators {
  /** Condition for the account that a query joins. */
  isJoined(): SQL<boolean>
  includes(db: Pick<Drizzle, 'select'>, accountId: string): Promise<boolean>
}

/**
 * The address alone is not sufficient, because any admin can invite any address. Either the address is proven, or the
 * password was set by the bootstrap, which only the operator of the installation can call.
 */
export function createOperators(emails: readonly string[]): Operators {
  const bootstrapped = sql`exists (
    select from ${bootstrappedAccounts} where ${bootstrappedAccounts.accountId} = ${accounts.id})`
  const isOperator = and(
    inArray(accounts.email, [...emails]),
    or(isNotNull(sql`${accounts.state}->>'addressProvenAt'`), bootstrapped),
  )
  return {
    isJoined: () => sql<boolean>`${isOperator}`,
    async includes(db, accountId) {
      const [row] = await db
        .select({ isOperator: sql<boolean>`${isOperator}` })
        .from(accounts)
        .where(eq(accounts.id, accountId))
      return row?.isOperator ?? false
    },
  }
}
