import { AuditEvent, type AuditFilters, type TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { auditLog } from '../schema.js'

/** All given filters must hold. */
export function auditConditions(filters: AuditFilters): (SQL | undefined)[] {
  const { actor, type, resourceType, resourceId, from, to } = filters
  return [
    actor === undefined ? undefined : eq(auditLog.actorId, actor),
    type === undefined ? undefined : typeMatches(type),
    resourceType === undefined ? undefined : eq(auditLog.resourceType, resourceType),
    resourceId === undefined ? undefined : eq(auditLog.resourceId, resourceId),
    from === undefined ? undefined : gte(auditLog.createdAt, from),
    to === undefined ? undefined : lt(auditLog.createdAt, to),
  ]
}

/** The patterns of webhook subscriptions. */
function typeMatches(pattern: string): SQL | undefined {
  if (pattern === '*' || pattern === 'audit.*') return undefined
  if (!pattern.endsWith('.*')) return eq(auditLog.type, pattern)
  const prefix = pattern.slice(0, -1)
  return sql`starts_with(${auditLog.type}, ${prefix})`
}

export async function auditEventById(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  id: string,
): Promise<AuditEvent | null> {
  const [row] = await db
    .select({ event: auditLog.state })
    .from(auditLog)
    .where(
      and(eq(auditLog.workspaceId, workspaceId), eq(auditLog.environment, environment), eq(auditLog.id, id)),
    )
  return row ? AuditEvent.parse(row.event) : null
}
