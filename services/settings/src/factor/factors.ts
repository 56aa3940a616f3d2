import {
  ApiError,
  type Factor,
  type Factors,
  type NewFactor,
  type NewPasskey,
  newId,
  notFound,
  type PasskeyEnrolment,
  type RecoveryCodes,
  stepUpMs,
  type TotpConfirmation,
  type TotpEnrolment,
} from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { and, eq, isNull } from 'drizzle-orm'
import { lockAccount, requireAccount } from '../account/queries.js'
import { queueSignInMail } from '../mail/mail-queue.js'
import { recoveryCodes, accountFactors as table } from '../schema/factor.js'
import { provesFactor } from '../session/methods.js'
import { requireSession } from '../session/own-session.js'
import type { Sessions } from '../session/sessions.js'
import type { Challenges } from './challenges.js'
import { reportAdded, reportRecoveryCodes, reportRemoved } from './factor-log.js'
import { totpSealContext } from './proofs.js'
import {
  countRecoveryCodes,
  type FactorRow,
  findUnconfirmedFactor,
  listFactors,
  toFactor,
  toFactorState,
} from './queries.js'
import { newRecoveryCode, recoveryCodeCount, recoveryCodeHash } from './recovery-codes.js'
import { type RelyingParty, requireRelyingParty } from './relying-party.js'
import { newTotpSecret, totpStep, totpUri } from './totp.js'
import { passkeyCreation, readAttestation } from './webauthn.js'

export interface FactorOptions {
  vault: Vault
  sessions: Sessions
  challenges: Challenges
  party: RelyingParty | { reason: string }
  withMail: boolean
}

export type FactorWork = ReturnType<typeof createFactors>

const maxFactors = 10
const refusal = 'An API key cannot read or change the factors of a login. Sign in.'

/** The second factors of a login. Changing them requires a session that has recently proved a factor, if there is one. */
export function createFactors(
  { database: { db }, relay }: Pick<ServiceContext, 'database' | 'relay'>,
  { vault, sessions, challenges, party, withMail }: FactorOptions,
) {
  /** Throws `forbidden` or `step_up_required` if the session may not change factors. */
  const changing = async (meta: RequestMeta) => {
    const { userId, tokenId: sessionId } = requireSession(meta, refusal)
    const session = await sessions.proofOf(sessionId)
    if (session === null) throw notFound()
    const provedMs = Date.parse(session.provedAt ?? session.createdAt)
    if (Date.parse(meta.now) - provedMs >= stepUpMs) throw proveAgain(meta)
    if (!provesFactor(session.methods) && (await listFactors(db, userId)).length > 0) throw proveAgain(meta)
    return { userId, sessionId }
  }

  /**
   * Activates a factor. Adding the first factor ends all other sessions, because they were opened without it; the
   * current session has just proved it.
   */
  const added = async (
    tx: Transaction,
    row: FactorRow,
    { sessionId, meta }: { sessionId: string; meta: RequestMeta },
  ) => {
    await reportAdded(tx, toFactorState(row), meta)
    if ((await listFactors(tx, row.accountId)).length > 1) return
    await sessions.endAll(tx, { accountId: row.accountId, except: sessionId, reason: 'factor_added' }, meta)
    await sessions.addMethod(tx, sessionId, row.kind)
  }

  const removed = async (
    tx: Transaction,
    rows: FactorRow[],
    { except, meta }: { except?: string; meta: RequestMeta },
  ) => {
    for (const row of rows.filter(({ confirmedAt }) => confirmedAt !== null))
      await reportRemoved(tx, toFactorState(row), meta)
    for (const accountId of new Set(rows.map((row) => row.accountId))) {
      await sessions.endAll(tx, { accountId, ...(except && { except }), reason: 'factor_removed' }, meta)
      if ((await listFactors(tx, accountId)).length > 0) continue
      await tx.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId))
      await sessions.dropFactors(tx, accountId)
    }
  }

  const transact = async <Result>(
    userId: string,
    work: (tx: Transaction) => Promise<Result>,
  ): Promise<Result> => {
    const result = await db.transaction(async (tx) => {
      await lockAccount(tx, userId)
      return work(tx)
    })
    relay.wake()
    return result
  }

  const requireRoom = async (tx: Transaction, userId: string) => {
    if ((await listFactors(tx, userId)).length < maxFactors) return
    throw new ApiError('conflict', `A login can have at most ${maxFactors} factors. Remove one first.`)
  }

  return {
    async list(meta: RequestMeta): Promise<Factors> {
      const { userId } = requireSession(meta, refusal)
      const [factors, left] = await Promise.all([listFactors(db, userId), countRecoveryCodes(db, userId)])
      const reason = 'reason' in party ? party.reason : null
      return {
        factors: factors.map(toFactor),
        recoveryCodesLeft: left,
        passkeys: { available: reason === null, reason },
      }
    },

    /** Replaces an unconfirmed authenticator app. Throws `forbidden`, `step_up_required`, `conflict`. */
    async beginTotp({ name }: NewFactor, meta: RequestMeta): Promise<TotpEnrolment> {
      const { userId } = await changing(meta)
      const { email } = await requireAccount(db, userId)
      const [id, secret] = [newId('factor'), newTotpSecret()]
      const [owner, place] = totpSealContext(id)
      const sealedSecret = await vault.seal(owner, secret, place)
      await transact(userId, async (tx) => {
        await requireRoom(tx, userId)
        await tx.delete(table).where(and(eq(table.accountId, userId), isNull(table.confirmedAt)))
        await tx.insert(table).values({
          ...{ id, accountId: userId, kind: 'totp', name, createdAt: meta.now, sealedSecret },
        })
      })
      return { id, secret, uri: totpUri({ issuer: 'Opsplane', email, secret }) }
    },

    /** Throws `not_found`, `validation_failed` for a wrong code, `forbidden`, `step_up_required`. */
    async confirmTotp({ id, code }: TotpConfirmation, meta: RequestMeta): Promise<Factor> {
      const { userId, sessionId } = await changing(meta)
      const begun = await findUnconfirmedFactor(db, userId, id)
      if (begun === null || begun.sealedSecret === null) throw notFound()
      const [owner, place] = totpSealContext(id)
      const step = totpStep(await vault.open(owner, begun.sealedSecret, place), code, meta.now)
      if (step === null) throw wrongCode()
      return transact(userId, async (tx) => {
        await requireRoom(tx, userId)
        const [row] = await tx
          .update(table)
          .set({ confirmedAt: meta.now, lastStep: step })
          .where(and(eq(table.id, id), isNull(table.confirmedAt)))
          .returning()
        if (!row) throw notFound()
        await added(tx, row, { sessionId, meta })
        return toFactor(row)
      })
    },

    /** Throws `conflict` if passkeys are disabled, `forbidden`, `step_up_required`. */
    async beginPasskey(meta: RequestMeta): Promise<PasskeyEnrolment> {
      const { userId, sessionId } = await changing(meta)
      const relyingParty = requireRelyingParty(party)
      const [user, factors] = await Promise.all([requireAccount(db, userId), listFactors(db, userId)])
      const issued = await challenges.issue({ purpose: 'enrolment', accountId: userId, sessionId }, meta.now)
      const known = factors.flatMap(({ credentialId, transports }) =>
        credentialId === null ? [] : [{ credentialId, transports: transports ?? [] }],
      )
      const publicKey = passkeyCreation(relyingParty, user, { challengeHash: issued.secretHash, known })
      return { challenge: issued.token, expiresAt: issued.expiresAt, publicKey }
    },

    /** Throws `invalid_token`, `validation_failed`, `conflict`, `forbidden`, `step_up_required`. */
    async addPasskey({ challenge, name, credential }: NewPasskey, meta: RequestMeta): Promise<Factor> {
      const { userId, sessionId } = await changing(meta)
      const relyingParty = requireRelyingParty(party)
      const found = await challenges.find(challenge, { purpose: 'enrolment', sessionId, now: meta.now })
      if (found === null || !(await challenges.take(found.id))) throw invalidChallenge()
      const passkey = await readAttestation(relyingParty, credential, found.secretHash)
      const { now } = meta
      return transact(userId, async (tx) => {
        await requireRoom(tx, userId)
        const [row] = await tx
          .insert(table)
          .values({
            ...{ id: newId('factor'), accountId: userId, kind: 'passkey', name, ...passkey },
            ...{ createdAt: now, confirmedAt: now },
          })
          .onConflictDoNothing()
          .returning()
        if (!row) throw new ApiError('conflict', 'This passkey is already registered.')
        await added(tx, row, { sessionId, meta })
        return toFactor(row)
      })
    },

    /** Throws `not_found`, `forbidden`, `step_up_required`. */
    async rename(id: string, { name }: NewFactor, meta: RequestMeta): Promise<Factor> {
      const { userId } = await changing(meta)
      const [row] = await db
        .update(table)
        .set({ name })
        .where(and(eq(table.id, id), eq(table.accountId, userId)))
        .returning()
      if (!row || row.confirmedAt === null) throw notFound()
      return toFactor(row)
    },

    /** Removes a factor and ends all other sessions. Throws `not_found`, `forbidden`, `step_up_required`. */
    async remove(id: string, meta: RequestMeta): Promise<void> {
      const { userId, sessionId } = await changing(meta)
      await transact(userId, async (tx) => {
        const rows = await tx
          .delete(table)
          .where(and(eq(table.id, id), eq(table.accountId, userId)))
          .returning()
        if (rows.length === 0) throw notFound()
        await removed(tx, rows, { except: sessionId, meta })
      })
    },

    /**
     * Removes all factors of another person, whom the caller may help. Only the password of the login remains. The person
     * gets a mail if mail is available and their address is proven.
     */
    async removeAll(userId: string, meta: RequestMeta): Promise<void> {
      await transact(userId, async (tx) => {
        const rows = await tx.delete(table).where(eq(table.accountId, userId)).returning()
        await removed(tx, rows, { meta })
        const { email, addressProvenAt } = await requireAccount(tx, userId)
        if (rows.length === 0 || !withMail || addressProvenAt === null) return
        const signIn = { what: 'factors_removed', at: meta.now, address: '', userAgent: '' } as const
        await queueSignInMail(tx, { accountId: userId, email, signIn })
      })
    },

    /** Invalidates the previous codes. Throws `conflict` without a factor, `forbidden`, `step_up_required`. */
    async renewRecoveryCodes(meta: RequestMeta): Promise<RecoveryCodes> {
      const { userId } = await changing(meta)
      const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode)
      await transact(userId, async (tx) => {
        if ((await listFactors(tx, userId)).length === 0) throw nothingToRecover()
        await tx.delete(recoveryCodes).where(eq(recoveryCodes.accountId, userId))
        await tx
          .insert(recoveryCodes)
          .values(codes.map((code) => ({ accountId: userId, codeHash: recoveryCodeHash(userId, code) })))
        await reportRecoveryCodes(tx, 'recovery_codes.created', { userId, left: codes.length }, meta)
      })
      return { codes }
    },
  }
}

function proveAgain({ principal }: RequestMeta): ApiError {
  const remedy = principal.provedAt === undefined ? 'Log in again' : 'Prove who you are by POST /auth/step-up'
  return new ApiError(
    'step_up_required',
    `Changing what proves a login requires a recent proof, with a factor if it has one. ${remedy}.`,
  )
}

const wrongCode = () =>
  new ApiError('validation_failed', 'The code is not the one the authenticator app shows now.', {
    details: [{ in: 'body', path: '/code', code: 'wrong_code', message: 'is not the present code' }],
  })

export const invalidChallenge = () =>
  new ApiError(
    'invalid_token',
    'The challenge is not valid: it has been answered, has expired, or belongs to another operation.',
  )

const nothingToRecover = () =>
  new ApiError('conflict', 'Recovery codes replace a second factor, and this login has none. Add one first.')
