import { ApiError, type Instant } from '@opsplane/contracts'
import { appendJournal } from '@opsplane/eventstore'
import { toStatementRunner } from '@opsplane/postgres'
import { recentKeys } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { eq, notExists } from 'drizzle-orm'
import { breakGlassEntries } from '../schema/provider.js'
import { sessions } from '../schema.js'
import { workspaceScope } from '../tenant/workspace-scope.js'

/** An owner who entered a workspace that requires an identity provider, with a session of another kind. */
export interface BreakGlassEntry {
  sessionId: string
  userId: string
  userName: string
  workspaceId: string
}

export type RecordBreakGlass = (
  entry: BreakGlassEntry,
  context: { now: Instant; requestId: string | null },
) => Promise<void>

/** Maximum number of reported entries this process remembers. */
const maxKnown = 10_000

/** Reports break-glass access once for each session and workspace. */
export function createBreakGlass({
  database: { db },
  relay,
}: Pick<ServiceContext, 'database' | 'relay'>): RecordBreakGlass {
  const known = recentKeys(maxKnown)
  return async ({ sessionId, userId, userName, workspaceId }, { now, requestId }) => {
    const key = `${sessionId} ${workspaceId}`
    if (known.has(key)) return
    await db.transaction(async (tx) => {
      const alive = tx
        .select({ id: sessions.id })
        .from(sessions)
        .where(eq(sessions.id, breakGlassEntries.sessionId))
      await tx.delete(breakGlassEntries).where(notExists(alive))
      const entered = await tx
        .insert(breakGlassEntries)
        .values({ sessionId, workspaceId })
        .onConflictDoNothing()
        .returning()
      if (entered.length === 0) return
      const after = { id: sessionId, userId }
      await appendJournal(toStatementRunner(tx), {
        ...{ streamType: 'login', streamId: `login/${userId}/${workspaceId}` },
        ...{ tenant: workspaceScope(workspaceId), type: 'session.break_glass', createdAt: now, requestId },
        actor: { id: userId, name: userName, type: 'user' },
        resource: { type: 'session', id: sessionId, displayName: userName },
        data: { before: null, after, changes: Object.keys(after) },
      })
    })
    known.add(key)
    relay.wake()
  }
}

/** The error of a workspace that requires an identity provider. The message contains the sign-in path. */
export function providerRequiredError(slug: string): ApiError {
  const message =
    `The workspace ${slug} requires its identity provider. Sign in with it: GET /auth/sso?workspace=${slug} ` +
    'lists the providers.'
  return new ApiError('workspace_forbidden', message, {
    details: [{ in: 'header', path: '/X-Workspace', code: 'sso_required', message }],
  })
}
