import type { SessionEndReason } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { and, eq, notExists, type SQL } from 'drizzle-orm'
import { ssoSessions } from '../schema/provider.js'
import { sessions as sessionTable } from '../schema.js'
import type { LoginContext } from '../session/session-log.js'
import type { Sessions } from '../session/sessions.js'

/** The stored link between a session and a provider. */
export type SsoSession = typeof ssoSessions.$inferInsert

/** Stores the link, and deletes those of the login's ended sessions. */
export async function saveSsoSession(tx: Transaction, session: SsoSession): Promise<void> {
  const over = tx
    .select({ id: sessionTable.id })
    .from(sessionTable)
    .where(eq(sessionTable.id, ssoSessions.sessionId))
  await tx.delete(ssoSessions).where(and(eq(ssoSessions.accountId, session.accountId), notExists(over)))
  await tx.insert(ssoSessions).values(session)
}

/** Selects the sessions of a provider to end: all, those of an identity, or those of a session at the provider. */
export interface SsoSessionFilter {
  providerId: string
  identityId?: string
  sid?: string
}

/** Ends these sessions in the caller's transaction, with an event for each. The caller must wake the relay. */
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
