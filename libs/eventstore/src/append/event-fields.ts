import { type Column, text } from './columns.js'
import type { EventRow } from './commit.js'

/** The fields that events of aggregates and of journals have in common. */
export type EventFields = Omit<EventRow, 'version' | 'sealed' | 'source' | 'trace'>

export const eventFields: Column<EventFields>[] = [
  text('id', (row) => row.id),
  text('stream_type', (row) => row.streamType),
  text('stream_id', (row) => row.streamId),
  text('type', (row) => row.type),
  text('workspace_id', (row) => row.workspaceId),
  text('environment', (row) => row.environment),
  text('actor', (row) => row.actor, 'json'),
  text('resource', (row) => row.resource, 'json'),
  text('data', (row) => row.data, 'json'),
  text('request_id', (row) => row.requestId),
  text('causation_id', (row) => row.causationId),
  text('created_at', (row) => row.createdAt, 'timestamptz'),
]
