import { type Instant, newId } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, lte } from 'drizzle-orm'
import { sessions } from '../schema.js'
import { issueToken } from '../token/bearer-token.js'

export interface SessionLimits {
  /** A session ends after this time without a request. */
  sessionIdleMs: number
  /** A session ends after this time in any case. */
  sessionLifetimeMs: number
}

export interface SessionOrigin {
  address: string
  userAgent: string
}

/** Where a request comes from; nothing is known of one that no client has made. */
export function originOf({ source }: Pick<RequestMeta, 'source'>): SessionOrigin {
  return source ?? { address: '', userAgent: '' }
}

export type Sessions = ReturnType<typeof createSessions>

/** Opens and ends sessions. Only the hash of a session's token is kept. */
export function createSessions(db: Drizzle, limits: SessionLimits) {
  return {
    /** Clears the account's sessions that are over, so that they do not pile up. */
    async open(accountId: string, origin: SessionOrigin, now: Instant) {
      const id = newId('session')
      const { plaintext, secretHash } = issueToken('ses', id)
      const expiresAt = later(now, limits.sessionLifetimeMs)
      await db.delete(sessions).where(and(eq(sessions.accountId, accountId), lte(sessions.expiresAt, now)))
      await db.insert(sessions).values({
        ...{ id, secretHash, accountId, expiresAt },
        ...{ createdAt: now, lastSeenAt: now },
        address: origin.address.slice(0, 100),
        userAgent: origin.userAgent.slice(0, 500),
      })
      return { accessToken: plaintext, expiresAt }
    },

    /** From now on the token is an unknown one. */
    async end(id: string) {
      await db.delete(sessions).where(eq(sessions.id, id))
    },

    /** When the session ends at the latest; null when it has ended. */
    async expiryOf(id: string): Promise<Instant | null> {
      const [row] = await db
        .select({ expiresAt: sessions.expiresAt })
        .from(sessions)
        .where(eq(sessions.id, id))
      return row?.expiresAt ?? null
    },

    /** When the session ends unless a request comes. */
    idleEnd: (lastSeenAt: Instant): Instant => later(lastSeenAt, limits.sessionIdleMs),

    async seen(id: string, now: Instant) {
      await db.update(sessions).set({ lastSeenAt: now }).where(eq(sessions.id, id))
    },
  }
}

function later(instant: Instant, ms: number): Instant {
  return new Date(Date.parse(instant) + ms).toISOString()
}
