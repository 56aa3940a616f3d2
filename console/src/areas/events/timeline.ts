import type { AuditEvent, Delivery } from '../../api/api.js'

interface Moment {
  id: string
  at: string
  atMs: number
}
export type Step = Moment & ({ kind: 'event'; event: AuditEvent } | { kind: 'delivery'; delivery: Delivery })

/**
 * Sorts events (without duplicates) and deliveries by time. At the same instant, events precede deliveries and lower ids
 * come first, so causes precede effects: ids grow with time.
 */
export function buildTimeline({
  events,
  deliveries,
}: {
  events: readonly AuditEvent[]
  deliveries: readonly Delivery[]
}): Step[] {
  const once = new Map(events.map((event) => [event.id, event]))
  const steps: Step[] = [
    ...[...once.values()].map((event) => ({ kind: 'event' as const, ...momentOf(event), event })),
    ...deliveries.map((delivery) => ({ kind: 'delivery' as const, ...momentOf(delivery), delivery })),
  ]
  return steps.sort(
    (one, other) => one.atMs - other.atMs || rank(one) - rank(other) || compare(one.id, other.id),
  )
}

const momentOf = ({ id, createdAt }: { id: string; createdAt: string }): Moment => ({
  ...{ id, at: createdAt, atMs: Date.parse(createdAt) },
})
const rank = ({ kind }: Step): number => (kind === 'event' ? 0 : 1)
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
