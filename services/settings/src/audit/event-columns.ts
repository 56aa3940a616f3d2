import type { PlatformEvent } from '@opsplane/contracts'
import type { auditLog } from '../schema.js'

type Row = typeof auditLog.$inferSelect

/**
 * Fields of an event that the audit log also stores in columns. Appending writes them, and verification compares
 * them.
 */
export const eventColumns = {
  id: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  environment: ({ environment }) => environment,
  version: ({ version }) => version,
  createdAt: ({ createdAt }) => createdAt,
  type: ({ type }) => type,
  actorId: ({ actor }) => actor?.id,
  resourceType: ({ resource }) => resource?.type,
  resourceId: ({ resource }) => resource?.id,
  requestId: ({ requestId }) => requestId ?? null,
  address: ({ source }) => source?.address ?? null,
} satisfies Partial<Record<keyof Row, (event: Partial<PlatformEvent>) => string | number | null | undefined>>

/** Whether the columns of a row match its event. */
export function columnsMatchEvent(row: Row): boolean {
  return names.every((name) => eventColumns[name](row.state) === row[name])
}

const names = Object.keys(eventColumns) as (keyof typeof eventColumns)[]
