import { AuditEvent, type AuditFilters, type TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { auditLog } from '../schema.js'

export type AuditRow = typeof auditLog.$inferSelect

/** Conditions for the given filters, all of which must hold. */
export function buildAuditConditions(filters: AuditFilters): (SQL | undefined)[] {
  const { actor, type, resourceType, resourceId, requestId, address, from, to } = filters
  return [
    actor === undefined ? undefined : eq(auditLog.actorId, actor),
    type === undefined ? undefined : typeMatches(type),
    resourceType === undefined ? undefined : eq(auditLog.resourceType, resourceType),
    resourceId === undefined ? undefined : eq(auditLog.resourceId, resourceId),
    requestId === undefined ? undefined : eq(auditLog.requestId, requestId),
    address === undefined ? undefined : eq(auditLog.address, address),
    from === undefined ? undefined : gte(auditLog.createdAt, from),
    to === undefined ? undefined : lt(auditLog.createdAt, to),
  ]
}

/** Supports the event patterns of webhook subscriptions. */
function typeMatches(pattern: string): SQL | undefined {
  if (pattern === '*' || pattern === 'audit.*') return undefined
  if (!pattern.endsWith('.*')) return eq(auditLog.type, pattern)
  const prefix = pattern.slice(0, -1)
  return sql`starts_with(${auditLog.type}, ${prefix})`
}

export async function findAuditEvent(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  id: string,
): Promise<AuditEvent | null> {
  const [row] = await db
    .select({ state: auditLog.state, seq: auditLog.seq, hash: auditLog.hash })
    .from(auditLog)
    .where(
      and(eq(auditLog.workspaceId, workspaceId), eq(auditLog.environment, environment), eq(auditLog.id, id)),
    )
  return row ? toAuditEvent(row) : null
}

/** An entry as the API shows it. */
export function toAuditEvent({ state, seq, hash }: Pick<AuditRow, 'state' | 'seq' | 'hash'>): AuditEvent {
  return AuditEvent.parse({ ...state, seq, hash })
}
