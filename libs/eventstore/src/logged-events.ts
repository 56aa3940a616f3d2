import { isoText } from '@opsplane/postgres'
import type { CommittedEvent } from './append/commit.js'

/** An event as stored in the log, with JSON columns as text, ready to be written into an envelope. */
export type LoggedEvent = Omit<CommittedEvent, 'streamType' | 'sealed'>

/** The columns of a LoggedEvent. `sealed` is excluded: it never leaves the service. */
export const loggedEventColumns = `
  e.position, e.id, e.stream_id as "streamId", e.version, e.type, e.workspace_id as "workspaceId", e.environment,
  e.actor::text as actor, e.resource::text as resource, e.data::text as data,
  e.request_id as "requestId", e.causation_id as "causationId", e.source::text as source,
  ${isoText('e.created_at')} as "createdAt", e.trace`

/**
 * The PlatformEvent as JSON text. JSON from Postgres is inserted verbatim, without parsing and serializing it
 * again.
 */
export function formatEnvelope(event: LoggedEvent): string {
  const text = JSON.stringify
  return (
    `{"id":${text(event.id)},"type":${text(event.type)},"workspaceId":${text(event.workspaceId)},` +
    `"environment":${text(event.environment)},"createdAt":${text(event.createdAt)},` +
    `"actor":${event.actor},"resource":${event.resource},"data":${withVersion(event)},"version":${event.version},` +
    `"requestId":${text(event.requestId)},"causationId":${text(event.causationId)},` +
    `"source":${event.source}}`
  )
}

/** The data with the version of the resource, which the log stores in a separate column. */
function withVersion({ data, version }: LoggedEvent): string {
  const fields = data.slice(data.indexOf('{') + 1).trimStart()
  return fields.startsWith('}') ? `{"version":${version}}` : `{"version":${version},${fields}`
}
