import { type Instant, newId } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, lte, ne, sql } from 'drizzle-orm'
import { accounts, sessions } from '../schema.js'
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
    /**
     * Clears the account's sessions that are over, so that they do not pile up. Null when the password is another one by
     * now: whoever sets one ends all sessions, and this one must not come after them.
     */
    async open(
      { id: accountId, passwordHash }: { id: string; passwordHash: string },
      origin: SessionOrigin,
      now: Instant,
    ) {
      const id = newId('session')
      const { plaintext, secretHash } = issueToken('ses', id)
      const expiresAt = later(now, limits.sessionLifetimeMs)
      await db.delete(sessions).where(and(eq(sessions.accountId, accountId), lte(sessions.expiresAt, now)))
      const [address, userAgent] = [origin.address.slice(0, 100), origin.userAgent.slice(0, 500)]
      const opened = await db.execute(sql`
        with entitled as (
          select id from ${accounts} where id = ${accountId} and state->>'passwordHash' = ${passwordHash} for share
        )
        insert into ${sessions} (id, secret_hash, account_id, created_at, last_seen_at, expires_at, address, user_agent)
        select ${id}, ${secretHash}, id, ${now}, ${now}, ${expiresAt}, ${address}, ${userAgent} from entitled
        returning id`)
      return opened.length === 0 ? null : { accessToken: plaintext, expiresAt }
    },

    /** All of this login but the one named; in the transaction that calls for it. */
    async endAll(tx: Pick<Drizzle, 'delete'>, accountId: string, except = ''): Promise<void> {
      await tx.delete(sessions).where(and(eq(sessions.accountId, accountId), ne(sessions.id, except)))
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
