import { type AnyColumn, and, eq } from 'drizzle-orm'

/** Rows of one tenant; an environment is one of an event or a request, which was checked. */
export const belongsToTenant = (
  table: Record<'workspaceId' | 'environment', AnyColumn>,
  { workspaceId, environment }: { workspaceId: string; environment: string },
) => and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))
