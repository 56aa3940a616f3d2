import type { SessionEndReason } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { and, eq, notExists, type SQL } from 'drizzle-orm'
import { ssoSessions } from '../schema/provider.js'
import { sessions as sessionTable } from '../schema.js'
import type { LoginContext } from '../session/session-log.js'
import type { Sessions } from '../session/sessions.js'

/** What a session of a provider is remembered by. */
export type SsoSession = typeof ssoSessions.$inferInsert

/** Remembers it, and forgets those of the login that have ended. */
export async function saveSsoSession(tx: Transaction, session: SsoSession): Promise<void> {
  const over = tx
    .select({ id: sessionTable.id })
    .from(sessionTable)
    .where(eq(sessionTable.id, ssoSessions.sessionId))
  await tx.delete(ssoSessions).where(and(eq(ssoSessions.accountId, session.accountId), notExists(over)))
  await tx.insert(ssoSessions).values(session)
}

/** Which sessions of a provider end: all, those of an identity, or those of a session there. */
export interface SsoSessionFilter {
  providerId: string
  identityId?: string
  sid?: string
}

/** Ends them, with an event for each, in the caller's transaction. The caller wakes the relay. */
export async function endSsoSessions(
  tx: Transaction,
  sessions: Pick<Sessions, 'endAll'>,
  { providerId, identityId, sid }: SsoSessionFilter,
  { reason, ...context }: LoginContext & { reason: SessionEndReason },
): Promise<void> {
  const where: (SQL | undefined)[] = [
    eq(ssoSessions.providerId, providerId),
    identityId === undefined ? undefined : eq(ssoSessions.identityId, identityId),
    sid === undefined ? undefined : eq(ssoSessions.sid, sid),
  ]
  const rows = await tx
    .delete(ssoSessions)
    .where(and(...where))
    .returning()
  for (const { sessionId: id, accountId } of rows)
    await sessions.endAll(tx, { accountId, id, reason }, context)
}
