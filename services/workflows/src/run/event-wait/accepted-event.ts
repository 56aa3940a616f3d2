import {
  type DeliveryBody,
  deliveryBody,
  Filter,
  filterMatches,
  type PlatformEvent,
  type SubjectEvent,
  tenantKey,
} from '@opsplane/contracts'

/** By the service that it stands in: a position in a log. What is at or below was accepted before. */
export type LogPositions = Readonly<Record<string, number>>

/** An event, and where it stands in the log of its service; null where that is not known. */
export interface AcceptedEvent {
  event: PlatformEvent
  source: string | null
  position: number | null
}

/** Whether an event was accepted after these positions; one that stands nowhere is taken for new. */
export const isAfter = (
  since: LogPositions,
  { source, position }: Pick<AcceptedEvent, 'source' | 'position'>,
): boolean => source === null || position === null || position > (since[source] ?? 0)

/** Everything that a wait, or a trigger, may name an event by. */
export const listEventPatterns = ({ type }: Pick<PlatformEvent, 'type'>): string[] => [
  type,
  '*',
  'audit.*',
  ...[...type.matchAll(/\./g)].map(({ index }) => `${type.slice(0, index)}.*`),
]

/** The same, each as `workspace/environment/pattern`. */
export const listEventKeys = (event: SubjectEvent): string[] =>
  listEventPatterns(event).map((pattern) => `${tenantKey(event)}/${pattern}`)

/** The keys of the events of a batch, of which most share tenant and type. */
export function listBatchKeys(): typeof listEventKeys {
  const known = new Map<string, string[]>()
  return (event) => {
    const kind = `${tenantKey(event)}/${event.type}`
    const keys = known.get(kind) ?? listEventKeys(event)
    known.set(kind, keys)
    return keys
  }
}

/** An event as expressions, filters and steps see it: as webhooks get it. */
export type EventBody = Omit<DeliveryBody, 'webhook_id'>

export function toEventBody(event: PlatformEvent): EventBody {
  const { webhook_id: _, ...body } = deliveryBody(event, '')
  return body
}

/** A filter whose values came out as none matches nothing. */
export function matchesEventFilter(filter: Record<string, unknown> | null, body: object): boolean {
  if (filter === null) return true
  const parsed = Filter.safeParse(filter)
  return parsed.success && filterMatches(parsed.data, body)
}
