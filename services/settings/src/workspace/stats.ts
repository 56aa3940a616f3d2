import type { Instant, TenantScope, WorkspaceStats } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, count, desc, eq, gte, sql } from 'drizzle-orm'
import { readResourceCounts } from '../audit/resource-counts.js'
import { auditLog, memberships, secrets, tokens } from '../schema.js'

const dayMs = 86_400_000

/** Counts the members and keys of a workspace, and the secrets, resources and recent events of this environment. */
export async function workspaceStats(
  db: Drizzle,
  tenant: TenantScope,
  now: Instant,
): Promise<WorkspaceStats> {
  const { workspaceId, environment } = tenant
  const [members, tokenCounts, secretCount, resources, byType] = await Promise.all([
    db.$count(memberships, and(eq(memberships.workspaceId, workspaceId), eq(memberships.status, 'active'))),
    countTokens(db, workspaceId, now),
    db.$count(secrets, and(eq(secrets.workspaceId, workspaceId), eq(secrets.environment, environment))),
    readResourceCounts(db, tenant),
    countEvents(db, tenant, now),
  ])
  const last24h = byType.reduce((sum, row) => sum + row.last24h, 0)
  const last7d = byType.reduce((sum, row) => sum + row.last7d, 0)
  return {
    members,
    tokens: tokenCounts,
    secrets: secretCount,
    resources,
    events: { last24h, last7d, byType },
  }
}

async function countTokens(db: Drizzle, workspaceId: string, now: Instant) {
  const live = sql`${tokens.status} = 'active' and coalesce(${tokens.state}->>'expiresAt' > ${now}, true)`
  const [row] = await db
    .select({ active: sql<number>`count(*) filter (where ${live})`.mapWith(Number), total: count() })
    .from(tokens)
    .where(eq(tokens.workspaceId, workspaceId))
  return row ?? { active: 0, total: 0 }
}

function countEvents(db: Drizzle, { workspaceId, environment }: TenantScope, now: Instant) {
  const since = (days: number) => new Date(Date.parse(now) - days * dayMs).toISOString()
  return db
    .select({
      type: sql<string>`${auditLog.type}`,
      last24h: sql<number>`count(*) filter (where ${gte(auditLog.createdAt, since(1))})`.mapWith(Number),
      last7d: count(),
    })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.workspaceId, workspaceId),
        eq(auditLog.environment, environment),
        gte(auditLog.createdAt, since(7)),
      ),
    )
    .groupBy(auditLog.type)
    .orderBy(desc(count()), auditLog.type)
}
