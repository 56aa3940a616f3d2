import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import { accounts, bootstrappedAccounts } from '../schema.js'

/** Who operates the installation: logins with one of these addresses, which the configuration names. */
export interface Operators {
  /** Of the account that a query joins. */
  isJoined(): SQL<boolean>
  includes(db: Pick<Drizzle, 'select'>, accountId: string): Promise<boolean>
}

/**
 * An address alone makes no operator, as any admin can invite any address: it has to be proven, or the password set by the
 * bootstrap, which only the operator of the installation can call.
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
