import {
  type FactorAnswer,
  type PasskeyAssertion,
  platformTenant,
  type SignInMethod,
} from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Vault } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { recoveryCodes, accountFactors as table } from '../schema/factor.js'
import type { LoginContext } from '../session/session-log.js'
import { reportCloneSuspected, reportRecoveryCodes } from './factor-log.js'
import { countRecoveryCodes, type FactorRow, findPasskey, listFactors, toFactorState } from './queries.js'
import { recoveryCodeHash } from './recovery-codes.js'
import type { RelyingParty } from './relying-party.js'
import { totpStep } from './totp.js'
import { readAssertion, type StoredPasskey, userHandle } from './webauthn.js'

export interface ProofOptions {
  vault: Vault
  party: RelyingParty | { reason: string }
}

/** A passkey that signed a challenge. */
export interface PasskeyProof {
  accountId: string
  /** The passkey has also verified the person: by a PIN, a finger or a face. */
  userVerified: boolean
}

export type Proofs = ReturnType<typeof createProofs>

/** Context that the sealed secret of an authenticator app is bound to. */
export const totpSealContext = (factorId: string) =>
  [platformTenant.workspaceId, `factor|${factorId}`] as const

/**
 * Verifies proofs by the factors of logins. Each code, and each counter value of a passkey with a counter, is
 * accepted once across all replicas.
 */
export function createProofs(
  { database: { db }, relay }: Pick<ServiceContext, 'database' | 'relay'>,
  { vault, party }: ProofOptions,
) {
  const byTotp = async (accountId: string, code: string, { now }: LoginContext): Promise<boolean> => {
    for (const { id, kind, sealedSecret } of await listFactors(db, accountId)) {
      if (kind !== 'totp' || sealedSecret === null) continue
      const [owner, place] = totpSealContext(id)
      const step = totpStep(await vault.open(owner, sealedSecret, place), code, now)
      if (step === null) continue
      const accepted = await db
        .update(table)
        .set({ lastStep: step, lastUsedAt: now })
        .where(and(eq(table.id, id), or(isNull(table.lastStep), lt(table.lastStep, step))))
        .returning({ id: table.id })
      if (accepted.length === 1) return true
    }
    return false
  }

  const byRecoveryCode = async (userId: string, code: string, context: LoginContext): Promise<boolean> => {
    const { accountId, codeHash, usedAt } = recoveryCodes
    const condition = and(eq(accountId, userId), eq(codeHash, recoveryCodeHash(userId, code)), isNull(usedAt))
    const used = await db.transaction(async (tx) => {
      const rows = await tx.update(recoveryCodes).set({ usedAt: context.now }).where(condition).returning()
      if (rows.length === 0) return false
      const left = await countRecoveryCodes(tx, userId)
      await reportRecoveryCodes(tx, 'recovery_codes.used', { userId, left }, context)
      return true
    })
    relay.wake()
    return used
  }

  /** `null` if nothing is proved. The login is found by the id of the credential. */
  const byPasskey = async (
    assertion: PasskeyAssertion,
    challengeHash: string,
    contextOf: (accountId: string) => Promise<LoginContext>,
  ): Promise<PasskeyProof | null> => {
    const factor = await findPasskey(db, assertion.id)
    const passkey = factor && storedPasskey(factor)
    if (!passkey || 'reason' in party) return null
    const { accountId } = factor
    const { userHandle: handle } = assertion.response
    if (handle && handle !== userHandle(accountId)) return null
    const signed = await readAssertion(party, assertion, { challengeHash, passkey })
    if (signed === null) return null
    const context = await contextOf(accountId)
    const isCounted = await db.transaction((tx) => countUse(tx, factor, signed.signCounter, context))
    relay.wake()
    return isCounted ? { accountId, userVerified: signed.userVerified } : null
  }

  return {
    byPasskey,

    /** The method, beyond the password, that an answer proves for this login; `null` if it proves none. */
    async of(
      answer: FactorAnswer,
      { accountId, secretHash }: { accountId: string; secretHash: string },
      context: LoginContext,
    ): Promise<SignInMethod | null> {
      if ('assertion' in answer) {
        const proof = await byPasskey(answer.assertion, secretHash, async () => context)
        return proof?.accountId === accountId ? 'passkey' : null
      }
      if (await byTotp(accountId, answer.code, context)) return 'totp'
      return (await byRecoveryCode(accountId, answer.code, context)) ? 'recovery_code' : null
    },
  }
}

/** `null` if the factor is not a passkey. */
function storedPasskey({
  credentialId,
  publicKey,
  transports,
}: FactorRow): Omit<StoredPasskey, 'signCounter'> | null {
  if (credentialId === null || publicKey === null) return null
  return { credentialId, publicKey, transports: transports ?? [] }
}

/**
 * Returns false and emits an event if the counter did not increase, because then a copy of the passkey exists. Most
 * passkeys do not count; their counter stays 0.
 */
async function countUse(
  tx: Transaction,
  factor: FactorRow,
  signCounter: number,
  context: LoginContext,
): Promise<boolean> {
  const updatedRows = await tx
    .update(table)
    .set({ signCounter, lastUsedAt: context.now })
    .where(
      and(
        eq(table.id, factor.id),
        or(lt(table.signCounter, signCounter), sql`${table.signCounter} = 0 and ${signCounter}::bigint = 0`),
      ),
    )
    .returning({ id: table.id })
  if (updatedRows.length === 0) await reportCloneSuspected(tx, toFactorState(factor), context)
  return updatedRows.length === 1
}
