import type { PlatformStatus } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, count, desc, eq, inArray, sql } from 'drizzle-orm'
import { memberships, workspaces } from '../schema.js'
import type { StatusClient } from './status-client.js'

const maxWorkspaces = 100

/** The status of the installation: counts and names, without tenant content. */
export async function platformStatus(db: Drizzle, statusClient: StatusClient): Promise<PlatformStatus> {
  const [services, waiting, workspaces] = await Promise.all([
    statusClient.services((service) => service.figures()),
    statusClient.webhooks(),
    readWorkspaces(db),
  ])
  return { services, ...workspaces, webhooks: waiting?.items ?? null }
}

async function readWorkspaces(db: Drizzle): Promise<Pick<PlatformStatus, 'workspaces' | 'workspaceCount'>> {
  const [all] = await db.select({ total: count() }).from(workspaces)
  const newest = await db
    .select({ id: workspaces.id, slug: workspaces.slug, name: sql<string>`${workspaces.state}->>'name'` })
    .from(workspaces)
    .orderBy(desc(workspaces.createdAt), desc(workspaces.id))
    .limit(maxWorkspaces)
  const ids = newest.map(({ id }) => id)
  const members = await db
    .select({ id: memberships.workspaceId, members: count() })
    .from(memberships)
    .where(and(inArray(memberships.workspaceId, ids), eq(memberships.status, 'active')))
    .groupBy(memberships.workspaceId)
  const membersOf = new Map(members.map((row) => [row.id, row.members]))
  return {
    workspaces: newest.map(({ id, slug, name }) => ({
      ...{ id, slug: slug ?? '', name, members: membersOf.get(id) ?? 0 },
    })),
    workspaceCount: all?.total ?? 0,
  }
}
