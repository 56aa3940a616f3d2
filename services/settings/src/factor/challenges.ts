import { type Instant, newId, type SignInMethod } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { constantTimeEqual } from '@opsplane/runtime'
import { and, eq, inArray, lt, lte, sql } from 'drizzle-orm'
import { signInChallenges as table } from '../schema/factor.js'
import { issueToken, readToken } from '../token/bearer-token.js'

export type Challenge = typeof table.$inferSelect

/** The login that must prove a factor, and for which purpose. */
export interface ChallengeSubject {
  purpose: Challenge['purpose']
  accountId: string
  /** The session that steps up or enrols. */
  sessionId?: string
  /** Methods already proved in a sign-in. */
  methods?: readonly SignInMethod[]
  providerId?: string | undefined
  workspaceId?: string | undefined
  passwordHash?: string | null
}

export interface IssuedChallenge {
  token: string
  secretHash: string
  expiresAt: Instant
}

export type Challenges = ReturnType<typeof createChallenges>

export const challengeMs = 5 * 60_000
/** Maximum number of wrong answers to one challenge. */
export const maxAttempts = 5
const sweptAtOnce = 100

/** Open challenges. Stores only the hashes of their tokens; deletes expired challenges when new ones are issued. */
export function createChallenges(db: Drizzle) {
  const sweep = (now: Instant) =>
    db
      .delete(table)
      .where(
        inArray(
          table.id,
          db.select({ id: table.id }).from(table).where(lte(table.expiresAt, now)).limit(sweptAtOnce),
        ),
      )

  return {
    async issue({ methods = [], ...subject }: ChallengeSubject, now: Instant): Promise<IssuedChallenge> {
      await sweep(now)
      const id = newId('signInChallenge')
      const { plaintext: token, secretHash } = issueToken('sic', id)
      const expiresAt = new Date(Date.parse(now) + challengeMs).toISOString()
      await db.insert(table).values({ ...subject, id, secretHash, expiresAt, methods: [...methods] })
      return { token, secretHash, expiresAt }
    },

    /** `null` if the token was never issued, has ended, or has another purpose. */
    async find(
      token: string,
      { purpose, sessionId, now }: Pick<ChallengeSubject, 'purpose' | 'sessionId'> & { now: Instant },
    ): Promise<Challenge | null> {
      const presentedToken = readToken(token)
      const [row] = await db
        .select()
        .from(table)
        .where(eq(table.id, presentedToken?.kind === 'sic' ? presentedToken.id : ''))
      const matches = constantTimeEqual(row?.secretHash ?? '', presentedToken?.secretHash ?? '')
      if (!row || !matches || row.purpose !== purpose || row.expiresAt <= now) return null
      return row.sessionId === (sessionId ?? null) ? row : null
    },

    /** Counts an attempt before it is checked, so that concurrent attempts count too. Returns false beyond the maximum. */
    async count(id: string): Promise<boolean> {
      const updatedRows = await db
        .update(table)
        .set({ attempts: sql`${table.attempts} + 1` })
        .where(and(eq(table.id, id), lt(table.attempts, maxAttempts)))
        .returning({ id: table.id })
      return updatedRows.length === 1
    },

    /** Consumes the challenge. Returns false if another request has consumed it. */
    async take(id: string): Promise<boolean> {
      const deletedRows = await db.delete(table).where(eq(table.id, id)).returning({ id: table.id })
      return deletedRows.length === 1
    },
  }
}
