import type { Instant } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { parseNetwork, sha256Hex } from '@opsplane/runtime'
import { and, eq, lt, ne } from 'drizzle-orm'
import type { AccountState } from '../account/domain.js'
import { queueSignInMail } from '../mail/mail-queue.js'
import { signInDevices } from '../schema.js'

/** How long a device from which a login was opened is known. */
const knownMs = 90 * 24 * 3_600_000

export interface RecordedSignIn {
  account: Pick<AccountState, 'id' | 'email' | 'addressProvenAt'>
  origin: { address: string; userAgent: string }
  now: Instant
}

/** Notes from where a login is opened, in the transaction that does so. */
export type RecordSignIn = (tx: Transaction, signIn: RecordedSignIn) => Promise<void>

/**
 * Mails the person about a sign-in from a device that was not used in the last 90 days. Not about the first sign-in, nor to
 * an unproven address: it may be another person's.
 */
export function createRecordSignIn({ withMail }: { withMail: boolean }): RecordSignIn {
  return async (tx, { account: { id: accountId, email, addressProvenAt }, origin, now }) => {
    const device = deviceOf(origin)
    const since = new Date(Date.parse(now) - knownMs).toISOString()
    const devices = await tx.select().from(signInDevices).where(eq(signInDevices.accountId, accountId))
    await tx
      .insert(signInDevices)
      .values({ accountId, device, lastAt: now })
      .onConflictDoUpdate({ target: [signInDevices.accountId, signInDevices.device], set: { lastAt: now } })
    await tx
      .delete(signInDevices)
      .where(
        and(
          eq(signInDevices.accountId, accountId),
          ne(signInDevices.device, device),
          lt(signInDevices.lastAt, since),
        ),
      )
    const isKnown = devices.some((known) => known.device === device && known.lastAt >= since)
    if (isKnown || devices.length === 0 || !withMail || addressProvenAt === null) return
    const { address, userAgent } = origin
    await queueSignInMail(tx, { accountId, email, signIn: { at: now, address, userAgent } })
  }
}

/** A family of browsers or programs, whatever its version, in one network. */
function deviceOf({ address, userAgent }: RecordedSignIn['origin']): string {
  return sha256Hex(`${userAgent.replaceAll(/\d[\w.]*/g, '')}\0${parseNetwork(address)}`)
}
