import type { Drizzle } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import { memberships } from '../schema.js'

export async function membershipExists(db: Drizzle, workspaceId: string, userId: string): Promise<boolean> {
  const [row] = await db
    .select({ id: memberships.id })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
  return row !== undefined
}
