import {
  type DeliveryBody,
  deliveryBody,
  type Environment,
  type EventStreamQuery,
  eventPermission,
  everyEventPermission,
  filterMatches,
  PlatformEvent,
  patternMatches,
  StreamedEvent,
  stringifyExact,
} from '@opsplane/contracts'

/** An event of the audit log, serialised once for all readers. */
export interface LiveEvent {
  seq: number
  event: PlatformEvent
  /** The body that filters are applied to. */
  body(): DeliveryBody
  /** The serialised server-sent event. */
  frame: string
}

export function liveEvent({ seq, state }: { seq: number; state: Record<string, unknown> }): LiveEvent {
  const event = PlatformEvent.parse(state)
  const data = stringifyExact(StreamedEvent.parse({ ...event, seq }))
  let body: DeliveryBody | undefined
  return {
    seq,
    event,
    // The same body as for a webhook, independent of the subscription.
    body: () => {
      body ??= deliveryBody(event, '')
      return body
    },
    frame: `id: ${seq}\nevent: event\ndata: ${data}\n\n`,
  }
}

/** The permissions of a reader and the filters of its request. */
export interface Reader {
  environment: Environment
  permissions: readonly string[]
  query: EventStreamQuery
}

type Parameters = Omit<EventStreamQuery, 'afterSeq' | 'changed'>
type Conditions = { [Name in keyof Parameters]-?: NonNullable<Parameters[Name]> }

/** For each query parameter, whether an event matches it. */
const conditions: {
  readonly [Name in keyof Conditions]: (live: LiveEvent, filterValue: Conditions[Name]) => boolean
} = {
  type: ({ event }, patterns) => patterns.some((pattern) => patternMatches(pattern, event.type)),
  actor: ({ event }, id) => event.actor.id === id,
  resourceType: ({ event }, type) => event.resource.type === type,
  resourceId: ({ event }, id) => event.resource.id === id,
  requestId: ({ event }, id) => event.requestId === id,
  address: ({ event }, address) => event.source?.address === address,
  filter: ({ body }, filter) => filterMatches(filter, body()),
}

const matchesCondition = <Name extends keyof Conditions>(
  name: Name,
  live: LiveEvent,
  query: EventStreamQuery,
) => {
  const filterValue = query[name] as Conditions[Name] | undefined
  return filterValue === undefined || conditions[name](live, filterValue)
}
const names = Object.keys(conditions) as (keyof Conditions)[]

/** Whether a reader requested an event and has permission to read it. Does not check row rules. */
export function isFor({ environment, permissions, query }: Reader, live: LiveEvent): boolean {
  const { event } = live
  return (
    event.environment === environment &&
    (permissions.includes(everyEventPermission) || permissions.includes(eventPermission(event.type))) &&
    names.every((name) => matchesCondition(name, live, query))
  )
}
