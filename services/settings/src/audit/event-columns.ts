import type { PlatformEvent } from '@opsplane/contracts'
import type { auditLog } from '../schema.js'

type Row = typeof auditLog.$inferSelect

/** What the columns of the audit log say again of an event, as it says it: whoever appends gives it, and verification compares it. */
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

/** Whether the columns of a row say what its event says. */
export function columnsFit(row: Row): boolean {
  return names.every((name) => eventColumns[name](row.state) === row[name])
}

const names = Object.keys(eventColumns) as (keyof typeof eventColumns)[]
