import {
  type Instant,
  newId,
  notFound,
  type Page,
  type SessionDetail,
  type SessionEndReason,
  type SessionState,
  type SignInMethod,
} from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import { toStatementRunner } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { and, desc, eq, gt, isNotNull, lt, lte, ne, notExists, type SQL, sql } from 'drizzle-orm'
import type { AccountState } from '../account/domain.js'
import { accountFactors, accounts, sessions } from '../schema.js'
import { issueToken } from '../token/bearer-token.js'
import { provesFactor } from './methods.js'
import { type LoginContext, recordSessionEnded, recordSessionStarted, recordStepUp } from './session-log.js'
import type { RecordSignIn } from './sign-in-devices.js'

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
export function toSessionOrigin({ source }: Pick<RequestMeta, 'source'>): SessionOrigin {
  return source ?? { address: '', userAgent: '' }
}

/** What a person does by signing in, or tries to, as events have it. */
export const toLoginContext = (
  { id, name }: Pick<AccountState, 'id' | 'name'>,
  origin: SessionOrigin,
  now: Instant,
): LoginContext => ({
  ...{ actor: { id, name, type: 'user' }, now, requestId: null },
  source: origin.address === '' ? null : origin,
})

/** `ses`: its token is the client's to send; `web`: it is in a browser's cookie, and good for nothing elsewhere. */
export type SessionKind = 'ses' | 'web'

/** What a person has proved, and what a session of it may enter. */
export interface ProvenPerson {
  /** Without a password hash where the login has only single sign-on. */
  account: AccountState
  /** What was proved, in this order. */
  methods: readonly SignInMethod[]
  /** Of single sign-on. */
  providerId?: string
  /** The session enters this workspace alone. */
  workspaceId?: string
}

/** Which sessions end, of one login. */
export interface SessionsToEnd {
  accountId: string
  /** Only this one. */
  id?: string
  /** All but this one. */
  except?: string
  reason: SessionEndReason
}

export type Sessions = ReturnType<typeof createSessions>

/** The most sessions of one login; a further one ends the oldest. */
const maxSessions = 100

/** Opens, lists and ends sessions. Only the hash of a session's token is kept. */
export function createSessions(
  { database: { db }, relay }: Pick<ServiceContext, 'database' | 'relay'>,
  limits: SessionLimits,
  recordSignIn: RecordSignIn,
) {
  const journal = (tx: Transaction) => ({ db: tx, run: toStatementRunner(tx) })

  /** In the transaction that calls for it. */
  const endAll = async (tx: Transaction, ending: SessionsToEnd, context: LoginContext): Promise<number> => {
    const { accountId, id, except = '', reason } = ending
    const ended = await tx
      .delete(sessions)
      .where(
        and(
          eq(sessions.accountId, accountId),
          id === undefined ? ne(sessions.id, except) : eq(sessions.id, id),
        ),
      )
      .returning()
    const alive = ended.filter(({ expiresAt }) => expiresAt > context.now)
    if (alive.length === 0) return 0
    const [owner] = await tx.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId))
    for (const row of alive)
      await recordSessionEnded(
        journal(tx),
        { session: stateOf(row), name: owner?.name ?? '', reason },
        context,
      )
    return alive.length
  }

  return {
    /**
     * Deletes the account's expired sessions. Null when the password has changed by
     * now: a new password ends all sessions, and this one must not be created after that.
     */
    async open(
      { account: user, methods, providerId, workspaceId }: ProvenPerson,
      origin: SessionOrigin,
      { now, kind }: { now: Instant; kind: SessionKind },
    ) {
      const id = newId('session')
      const { plaintext, secretHash } = issueToken(kind, id)
      const session = {
        ...{ id, userId: user.id, createdAt: now, expiresAt: later(now, limits.sessionLifetimeMs) },
        address: origin.address.slice(0, 100),
        userAgent: origin.userAgent.slice(0, 500),
        methods: [...methods],
      }
      const provedAt = kind === 'web' ? now : null
      const { passwordHash } = user
      const kept = {
        ...{ secretHash, provedAt },
        ...{ providerId: providerId ?? null, workspaceId: workspaceId ?? null },
      }
      const context = toLoginContext(user, origin, now)
      const opened = await db.transaction(async (tx) => {
        if (!(await insertIfEntitled(tx, { ...session, ...kept }, passwordHash))) return false
        await tx.delete(sessions).where(and(eq(sessions.accountId, user.id), lte(sessions.expiresAt, now)))
        for (const surplus of await beyondMost(tx, user.id))
          await endAll(tx, { accountId: user.id, id: surplus, reason: 'displaced' }, context)
        await recordSignIn(tx, { account: user, origin, now })
        await recordSessionStarted(journal(tx), session, user.name, context)
        return true
      })
      relay.wake()
      return opened ? { id, accessToken: plaintext, expiresAt: session.expiresAt } : null
    },

    endAll,

    /** How and when a session was proved; null once it has ended. */
    async proofOf(id: string) {
      const { methods, createdAt, provedAt } = sessions
      const [row] = await db
        .select({ methods, createdAt, provedAt })
        .from(sessions)
        .where(eq(sessions.id, id))
      return row ?? null
    },

    /** Its person has proved who they are in one more way. */
    async addMethod(tx: Transaction, id: string, method: SignInMethod): Promise<void> {
      await tx
        .update(sessions)
        .set({ methods: withMethod(method) })
        .where(eq(sessions.id, id))
    },

    /** The factors of the login are gone: what its sessions proved by them counts no more. */
    async dropFactors(tx: Transaction, accountId: string): Promise<void> {
      const rows = await tx.select().from(sessions).where(eq(sessions.accountId, accountId))
      for (const { id, methods } of rows) {
        const kept = methods.filter((method) => method === 'sso' || !provesFactor([method]))
        await tx.update(sessions).set({ methods: kept }).where(eq(sessions.id, id))
      }
    },

    /** The person has proved once more who they are. The token that did so far is an unknown one from now on. */
    async stepUp(
      id: string,
      method: SignInMethod,
      context: LoginContext,
    ): Promise<{ token: string; expiresAt: Instant }> {
      const { plaintext, secretHash } = issueToken('web', id)
      const row = await db.transaction(async (tx) => {
        const [updated] = await tx
          .update(sessions)
          .set({ secretHash, provedAt: context.now, methods: withMethod(method) })
          .where(eq(sessions.id, id))
          .returning()
        if (updated) await recordStepUp(journal(tx), stateOf(updated), context.actor.name, context)
        return updated
      })
      if (!row) throw notFound()
      relay.wake()
      return { token: plaintext, expiresAt: row.expiresAt }
    },

    /** Signs the person out everywhere. */
    async endAllOf(accountId: string, context: LoginContext): Promise<void> {
      await db.transaction((tx) => endAll(tx, { accountId, reason: 'ended_by_user' }, context))
      relay.wake()
    },

    /** From now on the token is an unknown one. Throws `not_found`. */
    async end(ending: SessionsToEnd & { id: string }, context: LoginContext): Promise<void> {
      const ended = await db.transaction((tx) => endAll(tx, ending, context))
      relay.wake()
      if (ended === 0) throw notFound()
    },

    /** Those in force, the newest first; `after` is the id of the last one shown. */
    async list(
      accountId: string,
      {
        limit,
        after,
        now,
        current,
      }: { limit: number; after: string | undefined; now: Instant; current: string },
    ): Promise<Page<SessionDetail>> {
      const idleSince = new Date(Date.parse(now) - limits.sessionIdleMs).toISOString()
      const inForce: (SQL | undefined)[] = [gt(sessions.expiresAt, now), gt(sessions.lastSeenAt, idleSince)]
      const rows = await db
        .select()
        .from(sessions)
        .where(
          and(
            eq(sessions.accountId, accountId),
            ...inForce,
            after === undefined ? undefined : lt(sessions.id, after),
          ),
        )
        .orderBy(desc(sessions.id))
        .limit(limit + 1)
      const items = rows.slice(0, limit).map((row) => {
        const { lastSeenAt } = row
        return { ...stateOf(row), lastSeenAt, current: row.id === current }
      })
      return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
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

type NewSession = SessionState &
  Pick<typeof sessions.$inferSelect, 'secretHash' | 'provedAt' | 'providerId' | 'workspaceId'>

/**
 * False when the password is another one by now, or the login has a factor that was not proved. Waits for a transaction that is
 * about to change either.
 */
async function insertIfEntitled(
  tx: Transaction,
  { userId: accountId, createdAt, ...session }: NewSession,
  passwordHash: string | null,
): Promise<boolean> {
  const [entitled] = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(
      and(
        eq(accounts.id, accountId),
        sql`${accounts.state}->>'passwordHash' is not distinct from ${passwordHash}::text`,
        // Decided here as well: a factor may be added during a sign-in.
        provesFactor(session.methods)
          ? undefined
          : notExists(
              tx
                .select({ id: accountFactors.id })
                .from(accountFactors)
                .where(and(eq(accountFactors.accountId, accountId), isNotNull(accountFactors.confirmedAt))),
            ),
      ),
    )
    .for('share')
  if (!entitled) return false
  await tx.insert(sessions).values({ ...session, accountId, createdAt, lastSeenAt: createdAt })
  return true
}

/** The methods of a session, with this one. */
const withMethod = (method: SignInMethod) =>
  sql`case when ${method} = any (${sessions.methods}) then ${sessions.methods} else ${sessions.methods} || ${method}::text end`

async function beyondMost(tx: Transaction, accountId: string): Promise<string[]> {
  const rows = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.accountId, accountId))
    .orderBy(desc(sessions.id))
    .offset(maxSessions)
  return rows.map(({ id }) => id)
}

function stateOf(row: typeof sessions.$inferSelect): SessionState {
  const { id, accountId, address, userAgent, methods, createdAt, expiresAt } = row
  return { id, userId: accountId, address, userAgent, methods, createdAt, expiresAt }
}

function later(instant: Instant, ms: number): Instant {
  return new Date(Date.parse(instant) + ms).toISOString()
}
