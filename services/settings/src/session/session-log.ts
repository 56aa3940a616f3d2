import {
  type Actor,
  type ChangeData,
  type EventSource,
  type LoginFailures,
  platformTenant,
  type SessionEndReason,
  type SessionState,
  type sessionEvents,
  type TenantScope,
} from '@opsplane/contracts'
import { appendJournal } from '@opsplane/eventstore'
import type { Drizzle, StatementRunner } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import { memberships } from '../schema.js'
import { workspaceScope } from '../tenant/workspace-scope.js'

/** The actor, time and source of an event about a login. */
export interface LoginContext {
  actor: Actor
  now: string
  requestId: string | null
  source?: EventSource | null
}

/** An event about a login. */
interface LoginEvent {
  type: keyof typeof sessionEvents | 'account.reset_link_created'
  userId: string
  resource: { type: string; id: string; displayName: string }
  data: Pick<ChangeData, 'before' | 'after'> & Record<string, unknown>
}

/** Maximum number of a person's workspaces in which an event about their login is recorded. */
const maxTenants = 20

/**
 * The user's workspaces in which events about the login are recorded, oldest membership first; the platform if there
 * are none.
 */
async function findTenants(db: Pick<Drizzle, 'select'>, userId: string): Promise<TenantScope[]> {
  const rows = await db
    .select({ workspaceId: memberships.workspaceId })
    .from(memberships)
    .where(and(eq(memberships.userId, userId), eq(memberships.status, 'active')))
    .orderBy(memberships.createdAt)
    .limit(maxTenants)
  return rows.length === 0 ? [platformTenant] : rows.map(({ workspaceId }) => workspaceScope(workspaceId))
}

/** Records an event about a login in each workspace of the person, in the caller's transaction. */
export async function recordLoginEvent(
  { db, run }: { db: Pick<Drizzle, 'select'>; run: StatementRunner },
  { type, userId, resource, data }: LoginEvent,
  { actor, now, requestId, source = null }: LoginContext,
): Promise<void> {
  const changes = Object.keys(data.after ?? data.before ?? {})
  const { before, after, ...extras } = data
  for (const tenant of await findTenants(db, userId)) {
    const stream = { streamType: 'login', streamId: `login/${userId}/${tenant.workspaceId}` }
    const event = { tenant, type, actor, resource, requestId, source, createdAt: now }
    await appendJournal(run, { ...stream, ...event, data: { before, after, changes, ...extras } })
  }
}

type Journal = Parameters<typeof recordLoginEvent>[0]

const sessionResource = ({ id }: SessionState, name: string) => ({ type: 'session', id, displayName: name })

export const recordSessionStarted = (
  journal: Journal,
  session: SessionState,
  name: string,
  context: LoginContext,
) =>
  recordLoginEvent(
    journal,
    {
      ...{ type: 'session.started', userId: session.userId, resource: sessionResource(session, name) },
      data: { before: null, after: session },
    },
    context,
  )

export const recordStepUp = (journal: Journal, session: SessionState, name: string, context: LoginContext) =>
  recordLoginEvent(
    journal,
    {
      ...{ type: 'session.stepped_up', userId: session.userId, resource: sessionResource(session, name) },
      data: { before: session, after: session },
    },
    context,
  )

export const recordSessionEnded = (
  journal: Journal,
  { session, name, reason }: { session: SessionState; name: string; reason: SessionEndReason },
  context: LoginContext,
) =>
  recordLoginEvent(
    journal,
    {
      ...{ type: 'session.ended', userId: session.userId, resource: sessionResource(session, name) },
      data: { before: session, after: null, reason },
    },
    context,
  )

export const recordLoginFailed = (
  journal: Journal,
  failures: LoginFailures,
  name: string,
  context: LoginContext,
) =>
  recordLoginEvent(
    journal,
    {
      ...{ type: 'login.failed', userId: failures.id },
      resource: { type: 'login', id: failures.id, displayName: name },
      data: { before: null, after: failures },
    },
    context,
  )
