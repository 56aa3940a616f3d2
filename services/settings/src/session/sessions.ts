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
  /** Maximum time without a request, in milliseconds. */
  sessionIdleMs: number
  /** Maximum lifetime of a session, in milliseconds. */
  sessionLifetimeMs: number
}

export interface SessionOrigin {
  address: string
  userAgent: string
}

/** The origin of a request; empty if it did not come from a client. */
export function toSessionOrigin({ source }: Pick<RequestMeta, 'source'>): SessionOrigin {
  return source ?? { address: '', userAgent: '' }
}

/** The context of events about a sign-in or an attempt. */
export const toLoginContext = (
  { id, name }: Pick<AccountState, 'id' | 'name'>,
  origin: SessionOrigin,
  now: Instant,
): LoginContext => ({
  ...{ actor: { id, name, type: 'user' }, now, requestId: null },
  source: origin.address === '' ? null : origin,
})

/** `ses`: the client sends the token itself. `web`: the token is in a browser's cookie and is accepted only there. */
export type SessionKind = 'ses' | 'web'

/** The account and methods a person has proved, with the restrictions of the new session. */
export interface ProvenPerson {
  /** Without a password hash if the login has only single sign-on. */
  account: AccountState
  /** The proved methods, in order. */
  methods: readonly SignInMethod[]
  /** The provider of a single sign-on. */
  providerId?: string
  /** The only workspace the session may enter. */
  workspaceId?: string
}

/** Selects the sessions of one login to end. */
export interface SessionsToEnd {
  accountId: string
  /** Only this session. */
  id?: string
  /** All sessions except this one. */
  except?: string
  reason: SessionEndReason
}

export type Sessions = ReturnType<typeof createSessions>

/** Maximum number of sessions of one login; another one ends the oldest. */
const maxSessions = 100

/** Opens, lists and ends sessions. Stores only the hash of a session's token. */
export function createSessions(
  { database: { db }, relay }: Pick<ServiceContext, 'database' | 'relay'>,
  limits: SessionLimits,
  recordSignIn: RecordSignIn,
) {
  const journal = (tx: Transaction) => ({ db: tx, run: toStatementRunner(tx) })

  /** Runs in the caller's transaction. */
  const endAll = async (
    tx: Transaction,
    sessionsToEnd: SessionsToEnd,
    context: LoginContext,
  ): Promise<number> => {
    const { accountId, id, except = '', reason } = sessionsToEnd
    const deletedRows = await tx
      .delete(sessions)
      .where(
        and(
          eq(sessions.accountId, accountId),
          id === undefined ? ne(sessions.id, except) : eq(sessions.id, id),
        ),
      )
      .returning()
    const alive = deletedRows.filter(({ expiresAt }) => expiresAt > context.now)
    if (alive.length === 0) return 0
    const [owner] = await tx.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId))
    for (const row of alive)
      await recordSessionEnded(
        journal(tx),
        { session: toSessionState(row), name: owner?.name ?? '', reason },
        context,
      )
    return alive.length
  }

  return {
    /**
     * Opens a session and deletes the account's expired ones. Returns `null` if the password has changed or the login has
     * an unproved factor: a new password ends all sessions, so none may be opened with the old password afterwards.
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
      const isOpened = await db.transaction(async (tx) => {
        if (!(await insertIfEntitled(tx, { ...session, ...kept }, passwordHash))) return false
        await tx.delete(sessions).where(and(eq(sessions.accountId, user.id), lte(sessions.expiresAt, now)))
        for (const surplus of await findSurplusSessions(tx, user.id))
          await endAll(tx, { accountId: user.id, id: surplus, reason: 'displaced' }, context)
        await recordSignIn(tx, { account: user, origin, now })
        await recordSessionStarted(journal(tx), session, user.name, context)
        return true
      })
      relay.wake()
      return isOpened ? { id, accessToken: plaintext, expiresAt: session.expiresAt } : null
    },

    endAll,

    /** The methods and times of a session's proofs; `null` if the session has ended. */
    async proofOf(id: string) {
      const { methods, createdAt, provedAt } = sessions
      const [row] = await db
        .select({ methods, createdAt, provedAt })
        .from(sessions)
        .where(eq(sessions.id, id))
      return row ?? null
    },

    /** Adds a method that the person has proved in this session. */
    async addMethod(tx: Transaction, id: string, method: SignInMethod): Promise<void> {
      await tx
        .update(sessions)
        .set({ methods: withMethod(method) })
        .where(eq(sessions.id, id))
    },

    /** Removes the proofs of factors from the login's sessions, because the factors no longer exist. */
    async dropFactors(tx: Transaction, accountId: string): Promise<void> {
      const rows = await tx.select().from(sessions).where(eq(sessions.accountId, accountId))
      for (const { id, methods } of rows) {
        const kept = methods.filter((method) => method === 'sso' || !provesFactor([method]))
        await tx.update(sessions).set({ methods: kept }).where(eq(sessions.id, id))
      }
    },

    /** Records a new proof of identity and issues a new token; the previous token becomes invalid. */
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
        if (updated) await recordStepUp(journal(tx), toSessionState(updated), context.actor.name, context)
        return updated
      })
      if (!row) throw notFound()
      relay.wake()
      return { token: plaintext, expiresAt: row.expiresAt }
    },

    /** Ends all sessions of the person. */
    async endAllOf(accountId: string, context: LoginContext): Promise<void> {
      await db.transaction((tx) => endAll(tx, { accountId, reason: 'ended_by_user' }, context))
      relay.wake()
    },

    /** Ends the session; its token becomes invalid. Throws `not_found`. */
    async end(sessionToEnd: SessionsToEnd & { id: string }, context: LoginContext): Promise<void> {
      const endedCount = await db.transaction((tx) => endAll(tx, sessionToEnd, context))
      relay.wake()
      if (endedCount === 0) throw notFound()
    },

    /** Active sessions, newest first; `after` is the id of the last session of the previous page. */
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
        return { ...toSessionState(row), lastSeenAt, current: row.id === current }
      })
      return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
    },

    /** The absolute expiry of the session; `null` if it has ended. */
    async expiryOf(id: string): Promise<Instant | null> {
      const [row] = await db
        .select({ expiresAt: sessions.expiresAt })
        .from(sessions)
        .where(eq(sessions.id, id))
      return row?.expiresAt ?? null
    },

    /** When the session ends without a further request. */
    idleEnd: (lastSeenAt: Instant): Instant => later(lastSeenAt, limits.sessionIdleMs),

    async seen(id: string, now: Instant) {
      await db.update(sessions).set({ lastSeenAt: now }).where(eq(sessions.id, id))
    },
  }
}

type NewSession = SessionState &
  Pick<typeof sessions.$inferSelect, 'secretHash' | 'provedAt' | 'providerId' | 'workspaceId'>

/**
 * Returns false if the password has changed, or the login has a factor that was not proved. Waits for transactions
 * that are changing either.
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
        // Checked here as well, because a factor may be added during a sign-in.
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

/** The methods of a session, including this one. */
const withMethod = (method: SignInMethod) =>
  sql`case when ${method} = any (${sessions.methods}) then ${sessions.methods} else ${sessions.methods} || ${method}::text end`

async function findSurplusSessions(tx: Transaction, accountId: string): Promise<string[]> {
  const rows = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.accountId, accountId))
    .orderBy(desc(sessions.id))
    .offset(maxSessions)
  return rows.map(({ id }) => id)
}

function toSessionState(row: typeof sessions.$inferSelect): SessionState {
  const { id, accountId, address, userAgent, methods, createdAt, expiresAt } = row
  return { id, userId: accountId, address, userAgent, methods, createdAt, expiresAt }
}

function later(instant: Instant, ms: number): Instant {
  return new Date(Date.parse(instant) + ms).toISOString()
}
