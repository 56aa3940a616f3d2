import { type AnyColumn, and, eq } from 'drizzle-orm'

/** Condition for the rows of one tenant; the environment was validated with the event or request. */
export const belongsToTenant = (
  table: Record<'workspaceId' | 'environment', AnyColumn>,
  { workspaceId, environment }: { workspaceId: string; environment: string },
) => and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))
