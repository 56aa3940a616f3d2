import type { ChallengeMethod, Factor, FactorState } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, count, eq, isNotNull, isNull } from 'drizzle-orm'
import { recoveryCodes, accountFactors as table } from '../schema/factor.js'

export type FactorRow = typeof table.$inferSelect
type Reading = Pick<Drizzle, 'select'>

/** The confirmed factors of a login, oldest first. */
export const listFactors = (db: Reading, accountId: string): Promise<FactorRow[]> =>
  db
    .select()
    .from(table)
    .where(and(eq(table.accountId, accountId), isNotNull(table.confirmedAt)))
    .orderBy(asc(table.id))

/** A factor that is not confirmed yet. */
export async function findUnconfirmedFactor(
  db: Reading,
  accountId: string,
  id: string,
): Promise<FactorRow | null> {
  const [row] = await db
    .select()
    .from(table)
    .where(and(eq(table.accountId, accountId), eq(table.id, id), isNull(table.confirmedAt)))
  return row ?? null
}

/** The passkey with this credential id, of any login. */
export async function findPasskey(db: Reading, credentialId: string): Promise<FactorRow | null> {
  const [row] = await db.select().from(table).where(eq(table.credentialId, credentialId))
  return row ?? null
}

export async function countRecoveryCodes(db: Reading, accountId: string): Promise<number> {
  const [row] = await db
    .select({ left: count() })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.accountId, accountId), isNull(recoveryCodes.usedAt)))
  return row?.left ?? 0
}

/** The methods by which a login with these factors can prove more than its password. */
export function listFactorMethods(
  factors: readonly FactorRow[],
  left: number,
  withPasskeys: boolean,
): ChallengeMethod[] {
  const has = (kind: FactorRow['kind']) => factors.some((factor) => factor.kind === kind)
  return [
    ...(has('totp') ? (['totp'] as const) : []),
    ...(has('passkey') && withPasskeys ? (['passkey'] as const) : []),
    ...(left > 0 ? (['recovery_code'] as const) : []),
  ]
}

/** The factor as events contain it. */
export const toFactorState = ({ id, accountId, kind, name, createdAt }: FactorRow): FactorState => ({
  ...{ id, userId: accountId, kind, name, createdAt },
})

export const toFactor = ({ id, kind, name, createdAt, lastUsedAt }: FactorRow): Factor => ({
  ...{ id, kind, name, createdAt, lastUsedAt },
})
