import { PlatformEvent, type TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, desc, eq } from 'drizzle-orm'
import { auditLog } from '../schema.js'

/** The newest event about a resource or of a request; `null` if there is none. */
export async function lastEvent(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  by: { resourceId: string } | { requestId: string },
): Promise<PlatformEvent | null> {
  const about =
    'resourceId' in by ? eq(auditLog.resourceId, by.resourceId) : eq(auditLog.requestId, by.requestId)
  const [row] = await db
    .select({ state: auditLog.state })
    .from(auditLog)
    .where(and(eq(auditLog.workspaceId, workspaceId), eq(auditLog.environment, environment), about))
    .orderBy(desc(auditLog.createdAt), desc(auditLog.id))
    .limit(1)
  return row ? PlatformEvent.parse(row.state) : null
}
