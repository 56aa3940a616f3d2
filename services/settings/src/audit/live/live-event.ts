import {
  type Environment,
  type EventStreamQuery,
  eventPermission,
  everyEventPermission,
  PlatformEvent,
  patternMatches,
  StreamedEvent,
  stringifyExact,
} from '@opsplane/contracts'

/** An event of the audit log, written once for all that read it. */
export interface LiveEvent {
  seq: number
  environment: string
  type: string
  resource: { type: string; id: string }
  requestId: string | null
  /** As a server-sent event. */
  frame: string
}

export function liveEvent({ seq, state }: { seq: number; state: Record<string, unknown> }): LiveEvent {
  const event = PlatformEvent.parse(state)
  const { environment, type, resource, requestId } = event
  const data = stringifyExact(StreamedEvent.parse({ ...event, seq }))
  return { seq, environment, type, resource, requestId, frame: `id: ${seq}\nevent: event\ndata: ${data}\n\n` }
}

/** Who reads, and what they want of it. */
export interface Reader {
  environment: Environment
  permissions: readonly string[]
  query: EventStreamQuery
}

/** Whether a reader wants an event and may read it. Row rules are not among this. */
export function isFor({ environment, permissions, query }: Reader, event: LiveEvent): boolean {
  const { type: patterns, resourceType, resourceId, requestId } = query
  return (
    event.environment === environment &&
    (patterns === undefined || patterns.some((pattern) => patternMatches(pattern, event.type))) &&
    (resourceType === undefined || resourceType === event.resource.type) &&
    (resourceId === undefined || resourceId === event.resource.id) &&
    (requestId === undefined || requestId === event.requestId) &&
    (permissions.includes(everyEventPermission) || permissions.includes(eventPermission(event.type)))
  )
}
