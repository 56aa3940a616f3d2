import type { Instant } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { parseNetwork, sha256Hex } from '@opsplane/runtime'
import { and, eq, lt, ne } from 'drizzle-orm'
import type { AccountState } from '../account/domain.js'
import { queueSignInMail } from '../mail/mail-queue.js'
import { signInDevices } from '../schema.js'

/** Time after the last sign-in during which a device is known, in milliseconds. */
const knownMs = 90 * 24 * 3_600_000

export interface RecordedSignIn {
  account: Pick<AccountState, 'id' | 'email' | 'addressProvenAt'>
  origin: { address: string; userAgent: string }
  now: Instant
}

/** Records the device of a sign-in, in the transaction of the sign-in. */
export type RecordSignIn = (tx: Transaction, signIn: RecordedSignIn) => Promise<void>

/**
 * Mails the person about a sign-in from a device that was not used in the last 90 days. Sends no mail about the first
 * sign-in, nor to an unproven address, which may belong to another person.
 */
export function createRecordSignIn({ withMail }: { withMail: boolean }): RecordSignIn {
  return async (tx, { account: { id: accountId, email, addressProvenAt }, origin, now }) => {
    const device = toDevice(origin)
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

/** A family of browsers or programs, regardless of version, in one network. */
function toDevice({ address, userAgent }: RecordedSignIn['origin']): string {
  return sha256Hex(`${userAgent.replaceAll(/\d[\w.]*/g, '')}\0${parseNetwork(address)}`)
}
