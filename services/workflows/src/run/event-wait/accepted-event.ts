import {
  type DeliveryBody,
  deliveryBody,
  Filter,
  filterMatches,
  type PlatformEvent,
  type SubjectEvent,
  tenantKey,
} from '@opsplane/contracts'

/** Positions in logs, by service. Events at or below them were accepted earlier. */
export type LogPositions = Readonly<Record<string, number>>

/** An event with its position in the log of its service; `null` if unknown. */
export interface AcceptedEvent {
  event: PlatformEvent
  source: string | null
  position: number | null
}

/** Whether an event was accepted after these positions. An event without a position counts as new. */
export const isAfter = (
  since: LogPositions,
  { source, position }: Pick<AcceptedEvent, 'source' | 'position'>,
): boolean => source === null || position === null || position > (since[source] ?? 0)

/** All patterns by which a wait or a trigger may match an event. */
export const listEventPatterns = ({ type }: Pick<PlatformEvent, 'type'>): string[] => [
  type,
  '*',
  'audit.*',
  ...[...type.matchAll(/\./g)].map(({ index }) => `${type.slice(0, index)}.*`),
]

/** The same patterns, each as `workspace/environment/pattern`. */
export const listEventKeys = (event: SubjectEvent): string[] =>
  listEventPatterns(event).map((pattern) => `${tenantKey(event)}/${pattern}`)

/** Keys for the events of a batch. Cached, because most events of a batch share tenant and type. */
export function listBatchKeys(): typeof listEventKeys {
  const known = new Map<string, string[]>()
  return (event) => {
    const kind = `${tenantKey(event)}/${event.type}`
    const keys = known.get(kind) ?? listEventKeys(event)
    known.set(kind, keys)
    return keys
  }
}

/** An event as seen by expressions, filters and steps: in the format of webhooks. */
export type EventBody = Omit<DeliveryBody, 'webhook_id'>

export function toEventBody(event: PlatformEvent): EventBody {
  const { webhook_id: _, ...body } = deliveryBody(event, '')
  return body
}

/** Whether a filter matches. One with a missing value matches nothing. */
export function matchesEventFilter(filter: Record<string, unknown> | null, body: object): boolean {
  if (filter === null) return true
  const parsed = Filter.safeParse(filter)
  return parsed.success && filterMatches(parsed.data, body)
}
