import { WorkspaceSettings } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { inArray } from 'drizzle-orm'
import { workspaces } from '../schema.js'

/** Retention of runs in days, by workspace id. */
export async function executionRetention(
  db: Pick<Drizzle, 'select'>,
  workspaceIds: string[],
): Promise<Record<string, number>> {
  if (workspaceIds.length === 0) return {}
  const { id, state } = workspaces
  const rows = await db.select({ id, state }).from(workspaces).where(inArray(id, workspaceIds))
  return Object.fromEntries(
    rows.map((row) => [row.id, WorkspaceSettings.parse(row.state.settings).executionRetentionDays]),
  )
}
